package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// A completer finds what may stand at the end of a command line. It reads the line as
// [program.arrange] does, but refuses nothing.
type completer struct {
	at level
	// agent holds the options for reaching the agent, as typed.
	agent []string
	// arguments counts the arguments before the last word.
	arguments int
}

// A suggestion is a word that may stand there, and what it means.
type suggestion struct{ word, what string }

// completions are words, and whether files or directories may stand beside them. prefix
// stands before each word.
type completions struct {
	kind, prefix string
	words        []suggestion
}

func (k *completer) complete(words []string) completions {
	app := (&program{args: []string{programName, "--help"}}).app()
	k.at = level{programName, app.Flags, app.Commands}
	last := words[len(words)-1]
	words = words[:len(words)-1]
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "--" {
			return completions{kind: "files"}
		}
		name, value, has, ok := optionOf(word)
		if !ok {
			k.argument(word)
			continue
		}
		f := findFlag(k.at.flags, name)
		if f != nil && !has && takesValue(f) {
			if len(words) == 0 {
				return k.values(f, name, "")
			}
			value, words = words[0], words[1:]
		}
		if f != nil && slices.Contains(reachOptions(), f.Names()[0]) {
			k.agent = append(k.agent, strings.TrimSuffix("--"+f.Names()[0]+"="+value, "="))
		}
	}
	if name, _, has, ok := optionOf(last); ok && has {
		if f := findFlag(k.at.flags, name); f != nil {
			return k.values(f, name, last[:strings.Index(last, "=")+1])
		}
	}
	if strings.HasPrefix(last, "-") {
		return completions{kind: "words", words: k.options()}
	}
	found := k.argumentValues()
	if k.arguments == 0 {
		for _, c := range k.at.commands {
			if !c.Hidden {
				found.words = append(found.words, suggestion{c.Name, c.Usage})
			}
		}
	}
	return found
}

// reachOptions are the options that completing a task's ID obeys. Others could write a
// file or start a program, which nobody expects of a key.
func reachOptions() []string {
	return []string{"agent", "header", "trust-origin", "signature-key", "require-signature", "a2a-version", "dialect", "extension",
		"token-file", "ca-file", "client-cert", "client-key", "insecure"}
}

// argument takes a word that is no option.
func (k *completer) argument(word string) {
	i := slices.IndexFunc(k.at.commands, func(c *cli.Command) bool { return c.HasName(word) })
	if i < 0 || k.arguments > 0 {
		if k.at.name != programName || word != "help" {
			k.arguments++
		}
		return
	}
	c := k.at.commands[i]
	k.at = level{k.at.name + " " + c.Name, c.Flags, c.Subcommands}
}

// options returns all options that may stand here, with those of a2astdio itself.
func (k *completer) options() []suggestion {
	all := []suggestion{{"--help", "show help"}}
	for _, f := range k.at.flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		for _, name := range f.Names() {
			if len(name) > 1 {
				_, text := placeholder(doc.GetUsage())
				all = append(all, suggestion{"--" + name, text})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].word < all[j].word })
	return slices.CompactFunc(all, func(a, b suggestion) bool { return a.word == b.word })
}

// values completes an option's value.
func (k *completer) values(f cli.Flag, name, prefix string) completions {
	if _, ok := f.(*cli.BoolFlag); ok {
		return completions{"words", prefix, []suggestion{{word: "true"}, {word: "false"}}}
	}
	value := ""
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		value, _ = placeholder(doc.GetUsage())
	}
	found := k.named(value, name == "task-id")
	found.prefix = prefix
	if name == "agent" {
		found.words = append(found.words, agentNames()...)
	}
	return found
}

// agentNames are the agents of the user's configuration.
func agentNames() (names []suggestion) {
	_, list, err := config.List(&config.Options{File: os.Getenv(env("config")[0])})
	if err != nil {
		return nil // the command itself reports the fault
	}
	for _, agent := range list {
		names = append(names, suggestion{word: agent.Name})
	}
	return names
}

// argumentValues completes the next argument: IDs of task's commands, and files.
func (k *completer) argumentValues() completions {
	words := strings.Fields(k.at.name)
	switch {
	case len(words) < 2 || len(k.at.commands) > 0:
	case words[1] == "task" && k.arguments == 0:
		return k.named("ID", true)
	case words[1] == "trace", words[1] == "card":
		return k.named("FILE", false)
	case words[1] == "completion" && k.arguments == 0:
		return k.named("bash|zsh|fish", false)
	}
	return completions{kind: "words"}
}

// named completes the placeholder of a value in help: words stand for themselves, FILE
// and DIR for paths, and ID for a task's ID, if tasks is set.
func (k *completer) named(value string, tasks bool) completions {
	found := completions{kind: "words"}
	for _, word := range strings.Split(value, "|") {
		switch {
		case word == "FILE":
			found.kind = "files"
		case word == "DIR":
			found.kind = "dirs"
		case word == "ID" && tasks:
			found.words = append(found.words, k.tasks()...)
		case plainWord(word) && !strings.ContainsAny(word, ":/=@") && (strings.ToUpper(word) != word || strings.ContainsAny(word, "0123456789")):
			found.words = append(found.words, suggestion{word: word})
		}
	}
	return found
}

// completeTime bounds how long a key may take.
const completeTime = time.Second

// tasks asks the agent for its latest tasks, if its URL is known. For a key it ignores
// files, commands and listeners that variables or the configuration name, and asks no
// identity provider.
func (k *completer) tasks() []suggestion {
	args := []string{programName, "--trace=", "--log=", "--agent-command=", "--webhook=", "--credential-command=", "--oauth-issuer="}
	args = append(append(args, k.agent...), "task", "list", "--output=json", "--timeout="+completeTime.String())
	var stdout, stderr bytes.Buffer
	p := &program{args: args, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, version: buildVersion(), terminal: noTerminal, noLogins: true}
	if agent := lastAgent(k.agent); !strings.HasPrefix(agent, "http://") && !strings.HasPrefix(agent, "https://") {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), completeTime)
	defer stop()
	if p.run(ctx) != exitOK {
		return nil
	}
	var document struct {
		Tasks []struct {
			ID     string
			Status struct{ State string }
		}
	}
	if json.Unmarshal(stdout.Bytes(), &document) != nil {
		return nil
	}
	var all []suggestion
	for _, t := range document.Tasks {
		all = append(all, suggestion{t.ID, strings.ToLower(strings.TrimPrefix(t.Status.State, "TASK_STATE_"))})
	}
	return all
}

// lastAgent returns the agent that was typed last, or the variable's.
func lastAgent(options []string) string {
	for _, o := range slices.Backward(options) {
		if agent, ok := strings.CutPrefix(o, "--agent="); ok {
			return agent
		}
	}
	return os.Getenv(env("agent")[0])
}

// noTerminal stands where nobody can be asked.
func noTerminal() (io.ReadWriteCloser, error) { return nil, os.ErrNotExist }

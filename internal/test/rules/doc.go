// Package rules switches off the rules of the code, one at a time, and tells what each
// costs: it has tests alone.
//
// A line that ends in "// rule: NAME" holds a rule. Switched off
//
//   - an if, or a case without a tag, is false;
//   - a function returns at once: false, 0, "" or nil;
//   - what := defines is false;
//   - what = assigns is without the last operand of its && or ||, and any other statement is
//     not there.
//
// go test ./internal/test/rules -off says what each rule costs: how many more turns, cuts
// and ends are wrong than with all rules. With -peers the tests of other people's agents
// count, too. It fails if a rule costs nothing: then it has no reason.
package rules

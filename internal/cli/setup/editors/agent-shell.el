(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
    (agent-shell-make-agent-config
     :identifier 'a2astdio :mode-line-name "NAME" :buffer-name "NAME"
     :shell-prompt "NAME> " :shell-prompt-regexp "NAME> "
     :client-maker (lambda (buffer)
       (agent-shell--make-acp-client :command COMMAND :context-buffer buffer
         :command-params '(ARGS)
         :environment-variables '(ENV))))))

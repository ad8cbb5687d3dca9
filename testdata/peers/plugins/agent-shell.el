;;; -*- lexical-binding: t -*-
;; Runs acp.el, agent-shell's ACP client, as the settings in $SETTINGS say, and prints what it is told.
(add-to-list 'load-path (concat (getenv "PLUGINS") "/acp.el"))
(require 'acp)
(require 'cl-lib)
(defvar agent-shell-agent-configs nil)
(cl-defun agent-shell-make-agent-config (&key client-maker &allow-other-keys) client-maker)
(cl-defun agent-shell--make-acp-client (&key command command-params environment-variables &allow-other-keys)
  (acp-make-client :command command :command-params command-params :environment-variables environment-variables))
(defun run-agent-shell ()
  (load (getenv "SETTINGS") nil t t)
  (provide 'agent-shell)
  (let ((client (funcall (car agent-shell-agent-configs) (current-buffer))) (text "") done)
  (cl-flet ((finish (said) (princ (concat said "\n")) (setq done t)))
    (acp-subscribe-to-notifications :client client :on-notification
      (lambda (n) (let ((u (map-nested-elt n '(params update))))
        (when (equal (map-elt u 'sessionUpdate) "agent_message_chunk") (setq text (concat text (map-nested-elt u '(content text))))))))
    (let ((failed (lambda (err) (finish (map-elt err 'message)))))
      (acp-send-request :client client :request (acp-make-initialize-request :protocol-version 1) :on-failure failed :on-success
        (lambda (_)
          (acp-send-request :client client :request (acp-make-session-new-request :cwd default-directory :mcp-servers []) :on-failure failed :on-success
            (lambda (r)
              (acp-send-request :client client :on-failure failed
                :request (acp-make-session-prompt-request :session-id (map-elt r 'sessionId) :prompt [((type . "text") (text . "hello"))])
                :on-success (lambda (r) (finish (format "%s [%s]" text (map-elt r 'stopReason)))))))))))
  (dotimes (_ 200) (unless done (accept-process-output nil 0.1)))))

;;; -*- lexical-binding: t -*-
;; The IDE companion for Gemini CLI and Qwen Code in Emacs' terminals: see docs/companion.md. Emacs 28 or newer, with a2astdio in
;; `exec-path'; (load "~/.emacs.d/a2astdio"). A proposal opens in ediff when nothing has been typed for a second: C-c C-c accepts
;; its second buffer as it is then, C-c C-k or ediff's q rejects it.
(require 'ediff)
(require 'json)

(defvar a2astdio-command '("a2astdio" "companion" "--name" "Emacs"))
(defvar a2astdio--process nil)
(defvar a2astdio--rest "")
(defvar a2astdio--began 0)
(defvar a2astdio--context nil "What was sent last.")
(defvar a2astdio--seen nil "Buffers, by when they were looked at.")
(defvar a2astdio--diffs nil "Open and waiting proposals: (ID PATH CONTENT BUFFER CONTROL).")
(defvar a2astdio--first (directory-file-name (expand-file-name default-directory)) "The first workspace.")
(defvar a2astdio--roots nil "The workspaces: the first one, and the repositories of the files.")
(defvar-local a2astdio--id nil "The proposal of this buffer.")

(defun a2astdio--send (&rest message)
  (when (process-live-p a2astdio--process)
    (process-send-string a2astdio--process (concat (json-serialize (append '(:jsonrpc "2.0") message) :false-object :json-false) "\n"))))

(defun a2astdio--root (path)
  (let ((root (locate-dominating-file path ".git"))) (and root (directory-file-name (expand-file-name root)))))

(defun a2astdio--look ()
  "Tell which files are open, if that has changed."
  (let ((current (window-buffer (selected-window))) files)
    (unless (alist-get current a2astdio--seen)
      (setf (alist-get current a2astdio--seen) (truncate (* 1000 (float-time)))))
    (dolist (buffer (buffer-list))
      (let ((path (buffer-file-name buffer)))
        (when (and path (not (file-remote-p path)) (file-readable-p path))
          (push (append `(:path ,path :timestamp ,(or (alist-get buffer a2astdio--seen) 0))
                        (when (eq buffer current)
                          (with-current-buffer buffer
                            `(:isActive t :cursor (:line ,(line-number-at-pos) :character ,(1+ (- (point) (line-beginning-position))))
                              ,@(when (use-region-p)
                                  `(:selectedText ,(buffer-substring-no-properties (region-beginning) (region-end))))))))
                files))))
    (unless (equal files a2astdio--context)
      (setq a2astdio--context files
            a2astdio--seen (seq-filter (lambda (seen) (buffer-live-p (car seen))) a2astdio--seen))
      (let ((roots (delete-dups (cons a2astdio--first (delq nil (mapcar (lambda (f) (a2astdio--root (plist-get f :path))) files))))))
        (unless (equal roots a2astdio--roots)
          (setq a2astdio--roots roots)
          (a2astdio--send :method "companion/workspaces" :params `(:workspaces ,(vconcat roots)))))
      (a2astdio--send :method "ide/contextUpdate" :params `(:workspaceState (:openFiles ,(vconcat files)))))))

(defun a2astdio--focus (&rest _)
  (setf (alist-get (window-buffer (selected-window)) a2astdio--seen) (truncate (* 1000 (float-time)))))

(defun a2astdio--text (diff)
  (if (buffer-live-p (nth 3 diff)) (with-current-buffer (nth 3 diff) (buffer-substring-no-properties (point-min) (point-max))) (nth 2 diff)))

(defun a2astdio--take (id)
  "End a proposal, and return what its second buffer holds; nil if there is none."
  (let* ((diff (assoc id a2astdio--diffs)) (text (and diff (a2astdio--text diff))))
    (setq a2astdio--diffs (assoc-delete-all id a2astdio--diffs))
    (when (buffer-live-p (nth 4 diff))
      (with-current-buffer (nth 4 diff) (ediff-really-quit nil)))
    (when (buffer-live-p (nth 3 diff)) (kill-buffer (nth 3 diff)))
    text))

(defun a2astdio--decide (method)
  (let* ((id (or a2astdio--id (user-error "This is no proposal"))) (path (nth 1 (assoc id a2astdio--diffs)))
         (accepted (equal method "ide/diffAccepted")) (text (a2astdio--text (assoc id a2astdio--diffs))))
    (when (and accepted (string-blank-p text)) (user-error "An empty file cannot be accepted: reject the proposal"))
    (a2astdio--take id)
    (a2astdio--send :method method :params `(:diffId ,id ,@(when accepted `(:content ,text))))
    (when accepted (dotimes (n 20) (run-with-timer (* 0.25 (1+ n)) nil #'a2astdio--reload path)))))

(defun a2astdio-accept () "Accept the proposal, as its buffer is now." (interactive) (a2astdio--decide "ide/diffAccepted"))
(defun a2astdio-reject () "Reject the proposal." (interactive) (a2astdio--decide "ide/diffRejected"))

(defun a2astdio--reload (path)
  "Let the buffer of PATH, which the CLI writes, take that: it can be undone."
  (let ((buffer (find-buffer-visiting path)))
    (when (and buffer (not (buffer-modified-p buffer)) (file-readable-p path) (not (verify-visited-file-modtime buffer)))
      (with-current-buffer buffer
        (let ((new (generate-new-buffer " *a2astdio*")) (inhibit-read-only t))
          (with-current-buffer new (insert-file-contents path))
          (set-visited-file-modtime) ; so that the change does not ask
          (undo-boundary)
          (replace-buffer-contents new)
          (kill-buffer new)
          (set-buffer-modified-p nil))))))

(defvar a2astdio-proposal-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'a2astdio-accept)
    (define-key map (kbd "C-c C-k") #'a2astdio-reject)
    map))

(defun a2astdio--show (diff)
  (let* ((id (nth 0 diff)) (path (nth 1 diff)) (buffer (generate-new-buffer (format "proposal: %s" (file-name-nondirectory path))))
         (file (if (file-exists-p path) (find-file-noselect path) (generate-new-buffer " *no file*"))))
    (with-current-buffer buffer
      (insert (nth 2 diff))
      (let ((buffer-file-name path)) (ignore-errors (set-auto-mode)))
      (setq a2astdio--id id)
      (use-local-map (make-composed-keymap a2astdio-proposal-map (current-local-map)))
      (goto-char (point-min)))
    (setcdr (nthcdr 2 diff) (list buffer nil))
    (ediff-buffers file buffer
      (list (lambda ()
              (setcar (nthcdr 4 diff) ediff-control-buffer)
              (setq a2astdio--id id)
              (use-local-map (make-composed-keymap a2astdio-proposal-map (current-local-map)))
              (add-hook 'ediff-quit-hook
                        (lambda () (when (assoc id a2astdio--diffs)
                                     (setcar (nthcdr 4 diff) nil) ; it quits already
                                     (let ((a2astdio--id id)) (a2astdio-reject))))
                        nil t))))
    (message "C-c C-c accepts this proposal, C-c C-k rejects it")))

(defun a2astdio--show-next ()
  "Show the oldest proposal that waits, if the user does nothing."
  (let ((diff (seq-find (lambda (d) (not (nth 3 d))) (reverse a2astdio--diffs))))
    (when (and diff (not (active-minibuffer-window)) (not executing-kbd-macro) (not defining-kbd-macro))
      (a2astdio--show diff))))

(defun a2astdio--handle (method params)
  (pcase method
    ("companion/started"
     (maphash #'setenv (gethash "env" params)) ; for terminals that are opened from now on
     (setq a2astdio--context nil)
     (a2astdio--look))
    ("ide/openDiff"
     (push (list (gethash "diffId" params) (gethash "filePath" params) (gethash "newContent" params)) a2astdio--diffs)
     (if (time-less-p 1 (or (current-idle-time) 0))
         (run-with-timer 0 nil #'a2astdio--show-next) ; the idle timer has run already
       (message "A proposal for %s waits until you pause" (file-name-nondirectory (gethash "filePath" params))))
     nil)
    ("ide/closeDiff"
     (let ((text (a2astdio--take (gethash "diffId" params)))) (when text `(:content ,text))))
    (_ (error "No such method"))))

(defun a2astdio--filter (_process output)
  (setq a2astdio--rest (concat a2astdio--rest output))
  (while (string-match "\n" a2astdio--rest)
    (let* ((line (substring a2astdio--rest 0 (match-beginning 0))) message)
      (setq a2astdio--rest (substring a2astdio--rest (match-end 0))
            message (json-parse-string line))
      (when (gethash "method" message)
        (condition-case err
            (let ((result (a2astdio--handle (gethash "method" message) (gethash "params" message))))
              (when (gethash "id" message)
                (a2astdio--send :id (gethash "id" message) :result (or result (make-hash-table)))))
          (error (when (gethash "id" message)
                   (a2astdio--send :id (gethash "id" message) :error `(:code -32603 :message ,(error-message-string err))))))))))

(defun a2astdio--ended (process _event)
  (unless (process-live-p process)
    (dolist (diff (copy-sequence a2astdio--diffs)) (a2astdio--take (car diff)))
    (let ((again (> (- (float-time) a2astdio--began) 5)))
      (message "The companion has ended with %s: %s" (process-exit-status process)
               (if again "it is started again" "M-x a2astdio-start starts it again"))
      (when again (run-with-timer 1 nil #'a2astdio-start)))))

(defun a2astdio-start ()
  "Start the companion, unless it runs."
  (interactive)
  (unless (process-live-p a2astdio--process)
    (setq a2astdio--rest "" a2astdio--began (float-time) a2astdio--context nil a2astdio--roots nil)
    (condition-case err
        (setq a2astdio--process
              (make-process :name "a2astdio" :noquery t :connection-type 'pipe :coding 'utf-8-unix :stderr (get-buffer-create " *a2astdio*")
                            :command (append a2astdio-command (list "--workspace" a2astdio--first))
                            :filter #'a2astdio--filter :sentinel #'a2astdio--ended))
      (error (message "The companion cannot be started: %s" (error-message-string err))))))

(add-hook 'window-selection-change-functions #'a2astdio--focus)
(add-hook 'window-buffer-change-functions #'a2astdio--focus)
(run-with-timer 0.5 0.5 #'a2astdio--look)
(run-with-idle-timer 1 t #'a2astdio--show-next)
(a2astdio-start)

;; soon

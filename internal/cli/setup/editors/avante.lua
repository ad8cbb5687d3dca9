require("avante").setup({
  provider = "a2astdio",
  behaviour = { auto_approve_tool_permissions = false },
  acp_providers = {
    a2astdio = {
      command = COMMAND,
      args = { ARGS },
      env = { HOME = os.getenv("HOME"), ENV },
    },
  },
})

require("codecompanion").setup({
  adapters = {
    acp = {
      a2astdio = function()
        return {
          name = "a2astdio",
          formatted_name = "NAME",
          type = "acp",
          roles = { llm = "assistant", user = "user" },
          opts = { vision = true },
          commands = { default = { COMMAND, ARGS } },
          env = { ENV },
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            setup = function() return true end,
            auth = function() return true end, -- by a2astdio itself
            form_messages = require("codecompanion.adapters.acp.helpers").form_messages,
            on_exit = function() end,
          },
        }
      end,
    },
  },
  interactions = { chat = { adapter = "a2astdio" } },
})

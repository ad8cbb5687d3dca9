-- Neovim as packaging/pictures/make starts it.
vim.o.termguicolors = true
vim.o.laststatus = 0
vim.o.ruler = false
vim.o.swapfile = false
for _, dir in ipairs(vim.fn.glob(vim.env.PLUGINS .. "/*", true, true)) do
  vim.opt.rtp:prepend(dir)
end
require("codecompanion").setup({
  adapters = {
    acp = {
      a2astdio = function()
        return require("codecompanion.adapters").extend("gemini_cli", {
          name = "a2astdio",
          formatted_name = "A2A",
          commands = { default = { vim.env.A2ASTDIO, "--agent", "demo", "--trace", vim.env.TRACE } },
          defaults = { timeout = 20000, mcpServers = {} },
        })
      end,
    },
  },
  interactions = { chat = { adapter = "a2astdio" } },
  display = { chat = { fold_reasoning = false, window = { width = 0.6, opts = { number = false } } } },
})

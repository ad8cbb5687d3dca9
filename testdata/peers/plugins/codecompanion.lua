-- Runs CodeCompanion's own connection with the settings in $SETTINGS, and prints what it shows.
dofile(vim.env.DRIVERS .. '/old.lua')
vim.opt.rtp:prepend(vim.env.PLUGINS .. '/codecompanion.nvim')
vim.opt.rtp:prepend(vim.env.PLUGINS .. '/plenary.nvim')
local settings
package.preload['codecompanion'] = function() return { setup = function(o) settings = o end } end
dofile(vim.env.SETTINGS)
package.preload['codecompanion'], package.loaded['codecompanion'] = nil, nil
vim.notify = function(text) print(text) end
require('codecompanion.config').setup({})
local adapter = require('codecompanion.adapters.acp').extend(settings.adapters.acp.a2astdio)
adapter.commands.selected = adapter.commands.default
local connection = require('codecompanion.acp').new({ adapter = adapter }):connect_and_initialize()
if not connection then return end
local text, done = '', false
local prompt = connection:session_prompt({ { role = 'user', content = 'hello', _meta = {} } })
prompt:on_message_chunk(function(chunk) text = text .. chunk end)
prompt:on_complete(function(reason)
  print(text .. ' [' .. reason .. ']')
  done = true
end)
prompt:on_error(function(err)
  print(err)
  done = true
end)
prompt:send()
vim.wait(20000, function() return done end, 20)

-- Runs avante's own ACP client with the settings in $SETTINGS, and prints what it is told.
dofile(vim.env.DRIVERS .. '/old.lua')
vim.opt.rtp:prepend(vim.env.PLUGINS .. '/avante.nvim')
local settings
package.preload['avante'] = function() return { setup = function(o) settings = o end } end
dofile(vim.env.SETTINGS)
package.preload['avante.config'] = function() return { debug = false } end
package.preload['avante.utils'] = function() return setmetatable({}, { __index = function() return function() end end }) end
local provider, text, done, client = settings.acp_providers.a2astdio, '', false, nil
local function finish(said)
  print(type(said) == 'table' and said.message or said)
  done = true
end
client = require('avante.libs.acp_client'):new({
  transport_type = 'stdio', command = provider.command, args = provider.args, env = provider.env, timeout = 20000,
  handlers = { on_session_update = function(u) if u.sessionUpdate == 'agent_message_chunk' then text = text .. u.content.text end end } })
client:connect(function(err)
  if err then return finish(err) end
  client:create_session(vim.fn.getcwd(), {}, function(id, err)
    if err then return finish(err) end
    client:send_prompt(id, { { type = 'text', text = 'hello' } }, function(r, err)
      finish(err or text .. ' [' .. r.stopReason .. ']')
    end)
  end)
end)
vim.wait(20000, function() return done end, 20)

-- What CodeCompanion's and avante's connections use of newer Neovims, for 0.7.
vim.uv = vim.uv or vim.loop
if vim.fn.has('nvim-0.11') == 1 then return end
local exec = vim.api.nvim_exec_autocmds
vim.api.nvim_exec_autocmds = function(event, o)
  o.data = nil
  return exec(event, o)
end
vim.validate = function() end
vim.iter = function(list)
  local it = {}
  local function each(keep)
    local new = {}
    for _, v in ipairs(list) do
      local r = keep(v)
      if r ~= nil then table.insert(new, r) end
    end
    list = new
    return it
  end
  function it:filter(f) return each(function(v) if f(v) then return v end end) end
  function it:map(f) return each(f) end
  function it:totable() return list end
  return it
end
vim.fs = vim.fs or {}
vim.fs.normalize = function(path) return path end
vim.fs.joinpath = function(...) return table.concat({ ... }, '/') end
vim.system = function(cmd, o, on_exit)
  local stdin, stdout, stderr = vim.loop.new_pipe(), vim.loop.new_pipe(), vim.loop.new_pipe()
  local env = {}
  for k, v in pairs(vim.tbl_extend('force', vim.fn.environ(), o.env)) do table.insert(env, k .. '=' .. v) end
  local handle, err = vim.loop.spawn(cmd[1], { args = vim.list_slice(cmd, 2), stdio = { stdin, stdout, stderr }, env = env, cwd = o.cwd },
    function(code, signal) on_exit({ code = code, signal = signal }) end)
  if not handle then error(err) end
  stdout:read_start(o.stdout)
  stderr:read_start(o.stderr)
  return { write = function(_, text) stdin:write(text) end, kill = function(_, signal) handle:kill(signal) end }
end

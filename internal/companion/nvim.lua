-- The IDE companion for Gemini CLI and Qwen Code in Neovim's terminal: see docs/companion.md. Neovim 0.7 or newer, with
-- a2astdio in PATH; in ~/.config/nvim/plugin. In a diff, :w accepts its right side, and :q rejects it.
local api, job, rest, focused, diffs, on = vim.api, nil, '', {}, {}, {}

local function send(message)
  message.jsonrpc = '2.0'
  pcall(vim.fn.chansend, job, vim.json.encode(message) .. '\n')
end

local function selection(buf)
  local a, b = vim.fn.getpos('v'), vim.fn.getpos('.')
  if a[2] > b[2] or a[2] == b[2] and a[3] > b[3] then a, b = b, a end
  local first, last = a[3] - 1, b[3] - 1 + #vim.fn.matchstr(vim.fn.getline(b[2]), '.', b[3] - 1)
  if vim.fn.mode() == 'V' then first, last = 0, #vim.fn.getline(b[2]) end
  return table.concat(api.nvim_buf_get_text(buf, a[2] - 1, first, b[2] - 1, last, {}), '\n')
end

local function context()
  local files = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do -- terminals, help and diffs are no files
    local path = api.nvim_buf_get_name(buf)
    if vim.bo[buf].buflisted and vim.bo[buf].buftype == '' and vim.fn.filereadable(path) == 1 then
      local file = { path = path, timestamp = focused[buf] or 0 }
      if buf == api.nvim_get_current_buf() then
        file.isActive, file.cursor = true, { line = vim.fn.line('.'), character = vim.fn.charcol('.') }
        file.selectedText = vim.fn.mode():match('[vV]') and selection(buf)
      end
      table.insert(files, file)
    end
  end
  send({ method = 'ide/contextUpdate', params = { workspaceState = { openFiles = files } } })
end

local function content(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), '\n') .. (vim.bo[buf].endofline and '\n' or '')
end

local function take(id) -- ends a diff, and returns what its right side holds
  local diff = diffs[id]
  if not diff then return nil end
  diffs[id] = nil
  vim.schedule(function()
    if api.nvim_tabpage_is_valid(diff.tab) then vim.cmd('tabclose! ' .. api.nvim_tabpage_get_number(diff.tab)) end
    pcall(api.nvim_buf_delete, diff.buf, { force = true })
  end)
  return content(diff.buf)
end

on['companion/started'] = function(p)
  for name, value in pairs(p.env) do vim.env[name] = value end -- for terminals that are opened from now on
  context()
end

on['ide/openDiff'] = function(p)
  vim.cmd('tab split ' .. vim.fn.fnameescape(p.filePath))
  vim.cmd('diffthis | rightbelow vnew')
  local buf, whole = api.nvim_get_current_buf(), p.newContent:sub(-1) == '\n'
  local bo = vim.bo[buf]
  bo.buftype, bo.bufhidden, bo.fixendofline, bo.endofline = 'acwrite', 'wipe', false, whole
  api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(whole and p.newContent:sub(1, -2) or p.newContent, '\n', { plain = true }))
  api.nvim_buf_set_name(buf, 'companion://' .. p.diffId .. p.filePath)
  bo.modified = false
  vim.cmd('diffthis')
  diffs[p.diffId] = { buf = buf, tab = api.nvim_get_current_tabpage() }
  api.nvim_create_autocmd('BufWriteCmd', { buffer = buf, callback = function()
    if not content(buf):match('%S') then return vim.notify('an empty file cannot be accepted: reject the diff with :q!') end
    bo.modified = false
    send({ method = 'ide/diffAccepted', params = { diffId = p.diffId, filePath = p.filePath, content = content(buf) } })
    take(p.diffId)
  end })
  api.nvim_create_autocmd('BufWipeout', { buffer = buf, callback = function()
    if take(p.diffId) then send({ method = 'ide/diffRejected', params = { diffId = p.diffId, filePath = p.filePath } }) end
  end })
  return vim.empty_dict()
end

on['ide/closeDiff'] = function(p)
  local text = take(p.diffId)
  return text and { content = text } or vim.empty_dict()
end

job = vim.fn.jobstart({ 'a2astdio', 'companion', '--name', 'Neovim', '--workspace', vim.fn.getcwd() }, {
  on_stdout = function(_, data)
    data[1] = rest .. data[1]
    rest = table.remove(data)
    for _, line in ipairs(data) do
      local m = vim.json.decode(line)
      local ok, result = pcall(on[m.method] or function() error('no such method') end, m.params)
      if m.id then send({ id = m.id, result = ok and result or nil, error = not ok and { code = -32603, message = result } or nil }) end
    end
  end })
local function focus(buf)
  local seconds, microseconds = vim.loop.gettimeofday()
  focused[buf] = seconds * 1000 + math.floor(microseconds / 1000)
end
focus(api.nvim_get_current_buf())
api.nvim_create_autocmd({ 'BufEnter', 'BufWritePost', 'BufDelete', 'CursorMoved', 'CursorMovedI', 'ModeChanged' }, { callback = function(event)
  if event.event == 'BufEnter' then focus(event.buf) end
  vim.schedule(context) -- BufDelete comes before the buffer is gone
end })

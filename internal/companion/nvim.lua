-- The IDE companion for Gemini CLI and Qwen Code in Neovim's terminal: see docs/companion.md. Neovim 0.7 or newer, with
-- a2astdio in PATH; in ~/.config/nvim/plugin. In a diff, :w accepts its right side, and :q rejects it. A diff opens when
-- nothing has been typed for a second in normal mode; after one that came while you typed, the first :w accepts nothing.
local api, job, rest, focused, diffs, waiting, on, typed, began = vim.api, nil, '', {}, {}, {}, {}, 0, 0

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

-- The CLI writes an accepted file. Its buffer takes that, as something that can be undone.
local function reload(path)
  local timer, left = vim.loop.new_timer(), 20
  timer:start(250, 250, vim.schedule_wrap(function()
    for _, buf in ipairs(api.nvim_list_bufs()) do
      if api.nvim_buf_get_name(buf) == path and api.nvim_buf_is_loaded(buf) and not vim.bo[buf].modified and vim.fn.mode() == 'n' then
        vim.bo[buf].autoread = true
        vim.cmd('silent! checktime ' .. buf)
      end
    end
    left = left - 1
    if left == 0 then timer:close() end
  end))
end

local function take(id) -- ends a diff, and returns what its right side holds
  local diff = diffs[id]
  diffs[id] = nil
  if not diff or not diff.buf then return diff and diff.newContent end
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

local function show(diff)
  vim.cmd('tab split ' .. vim.fn.fnameescape(diff.filePath))
  vim.cmd('diffthis | rightbelow vnew')
  local buf, whole = api.nvim_get_current_buf(), diff.newContent:sub(-1) == '\n'
  local bo = vim.bo[buf]
  bo.buftype, bo.bufhidden, bo.fixendofline, bo.endofline = 'acwrite', 'wipe', false, whole
  api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(whole and diff.newContent:sub(1, -2) or diff.newContent, '\n', { plain = true }))
  api.nvim_buf_set_name(buf, 'companion://' .. diff.diffId .. diff.filePath)
  bo.modified = false
  vim.cmd('diffthis')
  diff.buf, diff.tab = buf, api.nvim_get_current_tabpage()
  api.nvim_create_autocmd('BufWriteCmd', { buffer = buf, callback = function()
    if diff.early then
      diff.early = false
      return vim.notify('this is a proposal that came while you typed: :w accepts it now, :q! rejects it')
    end
    if not content(buf):match('%S') then return vim.notify('an empty file cannot be accepted: reject the diff with :q!') end
    bo.modified = false
    send({ method = 'ide/diffAccepted', params = { diffId = diff.diffId, content = content(buf) } })
    take(diff.diffId)
    reload(diff.filePath)
  end })
  api.nvim_create_autocmd('BufWipeout', { buffer = buf, callback = function()
    if take(diff.diffId) then send({ method = 'ide/diffRejected', params = { diffId = diff.diffId } }) end
  end })
end

local function typing() -- or in the command-line window, where no other opens
  return api.nvim_get_mode().mode ~= 'n' or vim.fn.getcmdwintype() ~= '' or vim.loop.now() - typed < 1000
end

local function showNext()
  if #waiting == 0 then return end
  vim.defer_fn(showNext, 100) -- before this one, which may fail
  if not typing() then
    local diff = table.remove(waiting, 1)
    if diffs[diff.diffId] == diff then show(diff) end -- a new companion gives the same IDs
  end
end

on['ide/openDiff'] = function(p)
  p.early = api.nvim_get_mode().mode ~= 'n'
  diffs[p.diffId] = p
  table.insert(waiting, p)
  if typing() then vim.notify('a proposal for ' .. vim.fn.fnamemodify(p.filePath, ':t') .. ' waits until normal mode') end
  if #waiting == 1 then vim.schedule(showNext) end
  return vim.empty_dict()
end

on['ide/closeDiff'] = function(p)
  local text = take(p.diffId)
  return text and { content = text } or vim.empty_dict()
end

local function start()
  if job then return end
  began, rest = vim.loop.now(), ''
  local ok, started = pcall(vim.fn.jobstart, { 'a2astdio', 'companion', '--name', 'Neovim', '--workspace', vim.fn.getcwd() }, {
    on_stdout = function(_, data)
      data[1] = rest .. data[1]
      rest = table.remove(data)
      for _, line in ipairs(data) do
        local m = vim.json.decode(line)
        local ok, result = pcall(on[m.method] or function() error('no such method') end, m.params)
        if m.id then send({ id = m.id, result = ok and result or nil, error = not ok and { code = -32603, message = result } or nil }) end
      end
    end,
    on_exit = function(_, status)
      job = nil
      if vim.v.exiting ~= vim.NIL then return end
      for id in pairs(diffs) do take(id) end
      local again = vim.loop.now() - began > 5000
      vim.notify('the companion has ended with ' .. status .. ': ' .. (again and 'it is started again' or ':Companion starts it again'))
      if again then vim.defer_fn(start, 1000) end
    end })
  job = ok and started or nil
  if not ok then vim.notify('the companion cannot be started: is a2astdio in PATH? ' .. started) end
end
start()
api.nvim_create_user_command('Companion', start, {})

local function focus(buf)
  local seconds, microseconds = vim.loop.gettimeofday()
  focused[buf] = seconds * 1000 + math.floor(microseconds / 1000)
end
focus(api.nvim_get_current_buf())
vim.on_key(function() typed = vim.loop.now() end)
api.nvim_create_autocmd({ 'BufEnter', 'BufWritePost', 'BufDelete', 'CursorMoved', 'CursorMovedI', 'ModeChanged' }, { callback = function(event)
  if event.event == 'BufEnter' then focus(event.buf) end
  if event.event == 'BufWritePost' then
    for _, diff in pairs(diffs) do diff.early = false end -- this was the first :w
  end
  vim.schedule(context) -- BufDelete comes before the buffer is gone
end })
api.nvim_create_autocmd('DirChanged', { callback = function()
  send({ method = 'companion/workspaces', params = { workspaces = { vim.fn.getcwd() } } })
end })

# PowerShell completion for a2astdio, for the profile:
#   a2astdio completion powershell | Out-String | Invoke-Expression
# Not tried: this was read against PowerShell's documentation and parsed by
# tree-sitter-powershell, and was not run.
#
# What is typed is handed over as text, and never evaluated. Each word has a dot in
# front of it, because some versions drop empty arguments.
Register-ArgumentCompleter -Native -CommandName 'a2astdio', 'a2astdio.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @()
    foreach ($element in @($commandAst.CommandElements)[1..1000]) {
        if ($null -eq $element -or $element.Extent.StartOffset -ge $cursorPosition) { break }
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $words += '.' + $element.Value
        } else {
            $words += '.' + $element.Extent.Text
        }
    }
    $words += '.' + $wordToComplete
    $program = Get-Command a2astdio -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($null -eq $program) { return }
    $lines = @(& $program.Source __complete powershell @words 2>$null)
    if ($lines.Count -eq 0 -or $lines[0] -notlike 'words*') { return } # PowerShell offers files then
    foreach ($line in $lines[1..($lines.Count)]) {
        if (-not $line) { continue }
        $value, $about = $line -split "`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}

/** Puts a text on the clipboard; false where the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Browsers refuse the clipboard to pages that came by plain http.
    return copyByEvent(text)
  }
}

function copyByEvent(text: string): boolean {
  const fill = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', fill)
  const isCopied = document.execCommand('copy')
  document.removeEventListener('copy', fill)
  return isCopied
}

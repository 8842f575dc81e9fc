/** Maximum number of selected resources in one ZIP. */
export const maxInArchive = 10_000

/** Lets the browser download an address. */
export const startDownload = (url: string): void => {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}

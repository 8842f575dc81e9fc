const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    // not an encoded text: the name is as it stands
    return text
  }
}

/** What can be the name of a file of it; empty when nothing can. */
const tamed = (text: string): string => {
  const plain = Array.from(text.toWellFormed().normalize('NFC'), each => (/[\p{Cc}/\\]/u.test(each) ? '_' : each))
    .join('')
    .slice(0, 255)
    .toWellFormed()
    .trim()
  return plain === '.' || plain === '..' ? '' : plain
}

const lastSegment = (url: string): string => tamed(decoded(new URL(url).pathname.split('/').findLast(part => part !== '') ?? ''))

/** The name in a Content-Disposition, in its plain or its encoded form (RFC 6266), when nothing in it need be replaced. */
const disposed = (disposition: string | undefined): string => {
  const [, encoded] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition ?? '') ?? []
  const [, quoted, plain] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(disposition ?? '') ?? []
  const name = encoded === undefined ? (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain ?? '') : decoded(encoded)
  return tamed(name) === name ? name : ''
}

/** The name for what was fetched: as the other server says, else the last part of the first address that has one. */
export const nameFrom = (urls: readonly string[], disposition: string | undefined): string =>
  disposed(disposition) || urls.map(lastSegment).find(name => name !== '') || 'download'

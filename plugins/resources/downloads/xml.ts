const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text as it may stand in XML 1.0; characters that XML cannot say become U+FFFD. */
export const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, character => escapes[character] as string)

/** An element: text, or elements in it. Attributes are escaped like text. */
export const element = (name: string, content: string | readonly string[], attributes: Readonly<Record<string, string>> = {}): string => {
  const written = Object.entries(attributes)
    .map(([attribute, value]) => ` ${attribute}="${escapeXml(value)}"`)
    .join('')
  const inner =
    typeof content === 'string' ? escapeXml(content) : `\n${content.map(line => `${line.replace(/^(?=<)/gm, '  ')}\n`).join('')}`
  return `<${name}${written}>${inner}</${name}>`
}

export const xmlFile = (root: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`

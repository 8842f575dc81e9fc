/** An element with its name without a prefix. */
export interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** All text in it, also that of its children, trimmed. */
  readonly text: string
}

/** Why some XML is not read. */
export class XmlFault extends Error {
  /** Declares types or entities: that is never read, however lenient one is otherwise. */
  readonly isForbidden: boolean

  constructor(message: string, isForbidden = false) {
    super(message)
    this.isForbidden = isForbidden
  }
}

const deepest = 64
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** One piece of markup, or text up to the next. */
const token =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<\/\s*([^\s<>/]+)\s*>|<([^\s<>/!?]+)((?:\s+[^\s=<>/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y
const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

const local = (name: string): string => name.slice(name.indexOf(':') + 1)

const unescaped = (text: string): string =>
  text.replace(/&([^;&\s]{1,10});|&/g, (found, entity: string | undefined) => {
    if (entity === undefined) throw new XmlFault('an & that is not escaped')
    const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(entity) ?? []
    const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16)
    if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code)
    const known = named[entity]
    if (known === undefined) throw new XmlFault(`the entity ${found}, which is not one of XML's own`)
    return known
  })

interface Open {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: XmlElement[]
  text: string
}

/** Reads XML without types, entities of its own, or anything from elsewhere. Throws `XmlFault`. */
export const readXml = (source: string): XmlElement => {
  if (/<!\s*(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i.test(source)) throw new XmlFault('it declares types or entities (DTD)', true)
  const whole: Open = { name: '', attributes: new Map(), children: [], text: '' }
  const open: Open[] = [whole]
  token.lastIndex = 0
  while (token.lastIndex < source.length) {
    const at = token.lastIndex
    const found = token.exec(source)
    if (!found) throw new XmlFault(`markup at character ${at} that is not well-formed`)
    take(open, found)
  }
  const [root] = whole.children
  if (open.length !== 1 || !root || whole.children.length !== 1) throw new XmlFault('elements that are not closed, or none')
  return root
}

const take = (open: Open[], [, cdata, closed, opened, attributes = '', isEmpty, text]: RegExpExecArray): void => {
  const inside = open.at(-1) as Open
  if (cdata !== undefined) inside.text += cdata
  else if (text !== undefined) inside.text += unescaped(text.replace(/^\ufeff/, ''))
  else if (closed !== undefined) close(open, closed)
  else if (opened !== undefined) {
    if (open.length > deepest) throw new XmlFault(`elements nested deeper than ${deepest}`)
    const found = [...attributes.matchAll(attribute)].map(
      ([, name = '', double, single]) => [local(name), unescaped(double ?? single ?? '')] as const,
    )
    open.push({ name: opened, attributes: new Map(found), children: [], text: '' })
    if (isEmpty === '/') close(open, opened)
  }
}

const close = (open: Open[], name: string): void => {
  const ended = open.pop() as Open
  const parent = open.at(-1)
  if (!parent || ended.name !== name) throw new XmlFault(`</${name.slice(0, 100)}>, which closes nothing`)
  parent.children.push({ name: local(ended.name), attributes: ended.attributes, children: ended.children, text: ended.text.trim() })
  parent.text += ended.text
}

/** All elements of this name, at any depth, in their order. */
export const elementsNamed = (within: XmlElement, name: string): readonly XmlElement[] =>
  within.children.flatMap(child => [...(child.name === name ? [child] : []), ...elementsNamed(child, name)])

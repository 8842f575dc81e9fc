/** An element; its name is without prefix. */
export interface XmlElement {
  readonly name: string
  readonly children: readonly XmlElement[]
  /** All text in it, including that of its descendants, trimmed. */
  readonly text: string
}

/** Why a document was refused. */
export class XmlFault extends Error {
  /** Declares a DTD or entities: always refused, even by lenient callers. */
  readonly isForbidden: boolean

  constructor(message: string, { isForbidden = false, cause }: { readonly isForbidden?: boolean; readonly cause?: unknown } = {}) {
    super(message, { cause })
    this.isForbidden = isForbidden
  }
}

const maxDepth = 64

interface Open {
  readonly name: string
  readonly children: XmlElement[]
  text: string
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Reads XML without a DTD, custom entities or external references. Throws `XmlFault`. */
export const readXml = async (source: string): Promise<XmlElement> => {
  // Loaded on first use: most servers never receive a bag with XML.
  const { SaxesParser } = await import('saxes')
  const parser = new SaxesParser()
  const whole: Open = { name: '', children: [], text: '' }
  const open: Open[] = [whole]
  const addText = (text: string): void => {
    const inside = open.at(-1) as Open
    inside.text += text
  }
  parser.on('error', cause => {
    throw new XmlFault(`it is not well-formed XML: ${cause.message.slice(0, 200)}`, { cause })
  })
  parser.on('doctype', () => {
    throw new XmlFault('it declares types or entities (DTD)', { isForbidden: true })
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('opentag', ({ name }) => {
    if (open.length > maxDepth) throw new XmlFault(`elements nested deeper than ${maxDepth}`)
    open.push({ name: withoutPrefix(name), children: [], text: '' })
  })
  parser.on('closetag', () => {
    const { name, children, text } = open.pop() as Open
    const parent = open.at(-1) as Open
    parent.children.push({ name, children, text: text.trim() })
    parent.text += text
  })
  parser.write(source).close()
  return whole.children[0] as XmlElement
}

/** All elements with this name, at any depth, in document order. */
export const elementsNamed = (within: XmlElement, name: string): readonly XmlElement[] =>
  within.children.flatMap(child => [...(child.name === name ? [child] : []), ...elementsNamed(child, name)])

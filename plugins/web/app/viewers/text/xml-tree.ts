import type { TreeNode } from '../lib/tree-view.tsx'

const maxValue = 500
const cut = (text: string): string => (text.length > maxValue ? `${text.slice(0, maxValue)}…` : text)

/** An XML error, with its line if the browser reports it. */
export class XmlError extends Error {
  readonly line: number | undefined

  constructor(line: number | undefined) {
    super('not well-formed')
    this.line = line
  }
}

/** Parses XML and returns its root. No scripts are run, and no external resources are loaded. */
export const parsedXml = (text: string): Element => {
  const { documentElement } = new DOMParser().parseFromString(text, 'application/xml')
  const error = documentElement.matches('parsererror') ? documentElement : documentElement.querySelector('parsererror')
  if (!error) return documentElement
  const line = /line (\d+)|Line Number (\d+)/i.exec(error.textContent ?? '')
  throw new XmlError(line ? Number(line[1] ?? line[2]) : undefined)
}

/** An element, its attributes and its contents as a tree. `path` is an XPath. */
export const elementNode = (element: Element, path: string): TreeNode => {
  const { attributes, children, tagName } = element
  const text = children.length === 0 ? (element.textContent ?? '').trim() : ''
  return {
    id: path,
    label: tagName,
    ...(text === '' ? {} : { value: cut(text), kind: 'text' as const }),
    childCount: attributes.length + children.length,
    children: () => [
      ...[...attributes].map(
        ({ name, value }): TreeNode => ({
          ...{ id: `${path}/@${name}`, label: `@${name}`, value: cut(value), kind: 'word', childCount: 0 },
        }),
      ),
      ...childNodes(children, path),
    ],
  }
}

const childNodes = (children: HTMLCollection, path: string): readonly TreeNode[] => {
  const counts = new Map<string, number>()
  return [...children].map(child => {
    const place = (counts.get(child.tagName) ?? 0) + 1
    counts.set(child.tagName, place)
    return elementNode(child, `${path}/${child.tagName}[${place}]`)
  })
}

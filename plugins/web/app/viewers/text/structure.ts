import { t } from '../../lib/i18n.ts'
import type { TreeNode } from '../lib/tree-view.tsx'
import type { StructureKind } from './index.ts'
import { JsonLineError, nodeOf, parsedJson, parsedLines } from './json-tree.ts'
import { elementNode, parsedXml, XmlError } from './xml-tree.ts'

/** A text as a tree, or a message about the error in it. */
export type Structure = { readonly root: TreeNode } | { readonly problem: string }

const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length

const jsonProblem = (text: string, error: unknown): string => {
  const message = error instanceof Error ? error.message : ''
  const line = /line (\d+)/.exec(message)?.[1]
  const position = /position (\d+)/.exec(message)?.[1]
  const at = line
    ? Number(line)
    : position
      ? lineAt(text, Number(position))
      : /end of/i.test(message)
        ? lineAt(text, text.length)
        : undefined
  return at === undefined ? t('viewer.text.notJson') : t('viewer.text.notJsonAt', { line: at })
}

/** Parses a text as the given kind. */
export const structured = (kind: StructureKind, text: string): Structure => {
  try {
    if (kind === 'xml') {
      const root = parsedXml(text)
      return { root: elementNode(root, `/${root.tagName}`) }
    }
    return { root: nodeOf('$', kind === 'json' ? parsedJson(text) : parsedLines(text), '$') }
  } catch (error) {
    if (error instanceof XmlError)
      return { problem: error.line === undefined ? t('viewer.text.notXml') : t('viewer.text.notXmlAt', { line: error.line }) }
    if (error instanceof JsonLineError) return { problem: t('viewer.text.notJsonAt', { line: error.line }) }
    return { problem: jsonProblem(text, error) }
  }
}

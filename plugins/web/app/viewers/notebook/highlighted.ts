import { LanguageDescription } from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { classHighlighter, highlightTree } from '@lezer/highlight'

/** A piece of code and its CSS classes for highlighting. */
export interface CodePiece {
  readonly text: string
  readonly classes: string
}

/** Returns a highlighter for a language; undefined for unknown languages. */
export const codeReader = async (name: string): Promise<((code: string) => readonly CodePiece[]) | undefined> => {
  const description = LanguageDescription.matchLanguageName(languages, name, true)
  if (!description) return undefined
  const { language } = await description.load()
  return code => {
    const pieces: CodePiece[] = []
    let at = 0
    highlightTree(language.parser.parse(code), classHighlighter, (from, to, classes) => {
      if (from > at) pieces.push({ text: code.slice(at, from), classes: '' })
      pieces.push({ text: code.slice(from, to), classes })
      at = to
    })
    if (at < code.length) pieces.push({ text: code.slice(at), classes: '' })
    return pieces
  }
}

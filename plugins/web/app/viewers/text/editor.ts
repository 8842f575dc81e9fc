import { HighlightStyle, type LanguageDescription, syntaxHighlighting } from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { ViewerHost } from '../host.ts'

/** Code uses the same colours as kinds of data. */
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName, tags.typeName], color: 'var(--lapis)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], color: 'var(--moss)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.attributeName], color: 'var(--sandarac)' },
  { tag: [tags.propertyName, tags.definition(tags.variableName), tags.function(tags.variableName)], color: 'var(--verdigris)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--faded)' },
  { tag: [tags.heading, tags.strong], fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
])
/** Syntax highlighting in the colours of the page, also used by other viewers. */
const codeColours = syntaxHighlighting(colours)

const look = EditorView.theme({
  '&': { maxBlockSize: 'max(24rem, calc(100dvb - 16rem))', fontSize: 'var(--size-small)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--verdigris)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: 'var(--line-body)', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sheet)', color: 'var(--faded)', borderRight: '1px solid var(--rule)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--wash) 50%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--wash)' },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--sandarac) 20%, transparent)' },
  '.cm-panel.cm-search label': { fontSize: 'var(--size-small)' },
  '.cm-panel.cm-search [name=close]': { minInlineSize: '1.75rem', minBlockSize: '1.75rem', fontSize: 'var(--size-read)' },
  '.cm-searchMatch-selected': {
    outline: '2px solid var(--sandarac)',
    backgroundColor: 'color-mix(in srgb, var(--sandarac) 28%, transparent)',
  },
  '.cm-panels': { backgroundColor: 'var(--vellum)', color: 'var(--ink)', borderBottom: '1px solid var(--rule)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--text)', padding: 'var(--space-2)' },
  '.cm-panel.cm-search .cm-textfield': {
    font: 'inherit',
    color: 'inherit',
    backgroundColor: 'var(--sheet)',
    border: '1px solid var(--edge)',
  },
  '.cm-panel.cm-search .cm-button': { font: 'inherit', color: 'inherit', background: 'transparent', border: '1px solid var(--edge)' },
})

const phrases = ['Find', 'next', 'previous', 'all', 'match case', 'regexp', 'by word', 'close', 'current match', 'on line'] as const

/** The texts of the search panel in the language of the page. */
const words = (host: ViewerHost): Extension =>
  EditorState.phrases.of(Object.fromEntries(phrases.map(phrase => [phrase, host.t(`viewer.text.search.${phrase.replaceAll(' ', '')}`)])))

/** Languages by media type, for files with another extension. */
const byType: Readonly<Record<string, string>> = {
  'application/json': 'JSON',
  'application/ld+json': 'JSON',
  'application/geo+json': 'JSON',
  'application/xml': 'XML',
  'text/xml': 'XML',
  'text/html': 'HTML',
  'text/css': 'CSS',
  'text/javascript': 'JavaScript',
  'application/javascript': 'JavaScript',
  'text/x-python': 'Python',
  'application/sql': 'SQL',
  'application/yaml': 'YAML',
  'text/yaml': 'YAML',
  'application/toml': 'TOML',
  'application/x-sh': 'Shell',
  'text/markdown': 'Markdown',
}

/** The language of a file, by its name or media type. */
const languageOf = (name: string, contentType: string): LanguageDescription | undefined => {
  const ending = name.toLowerCase().split('.').at(-1) ?? ''
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const wanted = byType[type] ?? (type.endsWith('+xml') ? 'XML' : type.endsWith('+json') ? 'JSON' : undefined)
  return (
    languages.find(({ filename }) => filename?.test(name)) ??
    languages.find(({ extensions }) => extensions.includes(ending)) ??
    languages.find(each => each.name === wanted)
  )
}

/** A read-only text with search. */
export class TextEditor {
  #view: EditorView
  #wrap = new Compartment()
  #numbers = new Compartment()
  #language = new Compartment()

  constructor(parent: HTMLElement, host: ViewerHost, text: string, onLine: (line: number) => void) {
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(host.nonce),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({
            tabindex: '0',
            role: 'textbox',
            'aria-readonly': 'true',
            'aria-multiline': 'true',
            'aria-label': host.thing.name,
          }),
          this.#numbers.of(lineNumbers()),
          this.#wrap.of([]),
          this.#language.of([]),
          drawSelection(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          words(host),
          keymap.of(searchKeymap),
          codeColours,
          look,
          EditorView.updateListener.of(({ selectionSet, state }) => {
            if (selectionSet) onLine(state.doc.lineAt(state.selection.main.head).number)
          }),
        ],
      }),
    })
    void this.#loadLanguage(host)
  }

  async #loadLanguage({ thing: { name, contentType }, signal }: ViewerHost): Promise<void> {
    try {
      const language = await languageOf(name, contentType)?.load()
      if (language && !signal.aborted) this.#view.dispatch({ effects: this.#language.reconfigure(language) })
    } catch {
      // The text is complete without highlighting.
    }
  }

  setText(text: string): void {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } })
  }

  setWrapping(isWrapped: boolean): void {
    this.#view.dispatch({ effects: this.#wrap.reconfigure(isWrapped ? EditorView.lineWrapping : []) })
  }

  /** Shows or hides line numbers, which are unknown at the end of a partly read file. */
  setNumbers(hasNumbers: boolean): void {
    this.#view.dispatch({ effects: this.#numbers.reconfigure(hasNumbers ? lineNumbers() : []) })
  }

  goTo(line: number): void {
    const { doc } = this.#view.state
    const { from } = doc.line(Math.max(1, Math.min(doc.lines, line)))
    this.#view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
  }

  remove(): void {
    this.#view.destroy()
  }
}

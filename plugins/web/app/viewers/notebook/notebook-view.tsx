// biome-ignore-all lint/a11y/useSemanticElements: scrollable boxes are regions, whatever their element
import '../../styles/notebook.css'
import { memo, useEffect, useRef, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { harmlessHtml, htmlOf } from '../../lib/markdown.ts'
import type { ViewerHost } from '../host.ts'
import { type CodePiece, codeReader } from './highlighted.ts'
import type { Cell, Notebook, Output } from './notebook-data.ts'

const firstCells = 200
/** Maximum length of highlighted code. Highlighting longer code would block the page. */
const maxColoured = 50_000

type ReadCode = (code: string) => readonly CodePiece[]

/** The cells of a notebook with their outputs. No code is run. */
export const NotebookView = ({ host, notebook: { cells, language } }: { readonly host: ViewerHost; readonly notebook: Notebook }) => {
  const [count, setCount] = useState(firstCells)
  const [read, setRead] = useState<ReadCode>()
  useEffect(() => {
    let isCurrent = true
    codeReader(language).then(
      reader => isCurrent && setRead(() => reader),
      // The text is complete without highlighting.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [language])
  return (
    <section className="notebook" aria-label={host.thing.name}>
      <h2 className="visually-hidden">{host.thing.name}</h2>
      <p className="help">
        {t('viewer.notebook.cells', { count: cells.length, shown: number(cells.length) })} · {language}
      </p>
      {cells.length === 0 && <p className="empty">{t('viewer.notebook.empty')}</p>}
      <ol>
        {cells.slice(0, count).map((cell, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cells are identified by position
          <li key={at}>
            <CellView cell={cell} place={at + 1} read={read} />
          </li>
        ))}
      </ol>
      {count < cells.length && <Button onPress={() => setCount(count + firstCells)}>{t('viewer.text.showMore')}</Button>}
    </section>
  )
}

const CellView = memo(({ cell, place, read }: { readonly cell: Cell; readonly place: number; readonly read: ReadCode | undefined }) => {
  const { kind, source, count, outputs } = cell
  if (kind === 'markdown') return <Html html={htmlOf(source)} />
  const pieces = kind === 'code' && source.length <= maxColoured ? read?.(source) : undefined
  return (
    <div className="notebook-code">
      {source !== '' && (
        <>
          <span className="notebook-count">{count === undefined ? '' : `[${count}]`}</span>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
          <pre className="sheet" tabIndex={0} role="region" aria-label={t('viewer.notebook.code', { number: place })}>
            <code>
              {pieces
                ? pieces.map(({ text, classes }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: pieces are identified by position
                    <span key={at} className={classes}>
                      {text}
                    </span>
                  ))
                : source}
            </code>
          </pre>
        </>
      )}
      {outputs.map((output, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: outputs are identified by position
        <OutputView key={at} output={output} place={place} />
      ))}
    </div>
  )
})

const OutputView = ({ output, place }: { readonly output: Output; readonly place: number }) => {
  switch (output.kind) {
    case 'picture':
      return <img className="notebook-output" src={output.source} alt={t('viewer.notebook.picture', { number: place })} />
    case 'html':
      return <Html html={harmlessHtml(output.text)} label={t('viewer.notebook.output', { number: place })} />
    case 'markdown':
      return <Html html={htmlOf(output.text)} />
    case 'unknown':
      return <p className="notebook-output help">{t('viewer.notebook.unknown', { types: output.types.join(', ') })}</p>
    default:
      return output.text === '' ? null : (
        <pre
          className={output.kind === 'error' ? 'notebook-output failed' : 'notebook-output'}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
          tabIndex={0}
          role="region"
          aria-label={t('viewer.notebook.output', { number: place })}
        >
          {output.text}
        </pre>
      )
  }
}

const Html = ({ html, label }: { readonly html: string; readonly label?: string }) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!box.current) return
    box.current.innerHTML = html
    // The empty corner cell of a data frame is not a heading.
    for (const corner of box.current.querySelectorAll('th:empty')) corner.replaceWith(document.createElement('td'))
  }, [html])
  return label === undefined ? (
    <div ref={box} className="prose" dir="auto" />
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <div ref={box} className="prose notebook-output" dir="auto" tabIndex={0} role="region" aria-label={label} />
  )
}

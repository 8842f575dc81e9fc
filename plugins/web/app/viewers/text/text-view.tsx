import '../../styles/text-viewer.css'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { copyText } from '../../components/copy-text.tsx'
import { bytes } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { ViewerHost } from '../host.ts'
import { type TreeNode, TreeView } from '../lib/tree-view.tsx'
import { TextEditor } from './editor.ts'
import type { Structure } from './structure.ts'
import { type LoadedText, maxBytes, type TextSource } from './text-source.ts'

/** Maximum length of a text shown as a tree. Parsing longer ones would block the page. */
const maxTreeLength = 10_000_000

/** A text with line numbers, highlighting and search. JSON and XML are also shown as a tree, parsed by `structured`. */
export const TextView = ({
  host,
  source,
  first,
  structured,
}: {
  readonly host: ViewerHost
  readonly source: TextSource
  readonly first: LoadedText
  readonly structured: ((text: string) => Structure) | undefined
}) => {
  const state = useMemo(() => new URLSearchParams(host.state.get() ?? ''), [host])
  const [loaded, setLoaded] = useState(first)
  const [isBusy, setBusy] = useState(false)
  const [isWrapped, setWrapped] = useState(false)
  const structure = useMemo(
    () => (loaded.isWhole && loaded.text.length <= maxTreeLength ? structured?.(loaded.text) : undefined),
    [structured, loaded],
  )
  const [isTree, setTree] = useState(state.get('as') !== 'text')
  const tree = structure && 'root' in structure ? structure.root : undefined
  const note = (name: string, value: string | undefined): void => {
    if (value === undefined) state.delete(name)
    else state.set(name, value)
    host.state.set(state.toString() || undefined)
  }
  const read = async (how: 'more' | 'end'): Promise<void> => {
    setBusy(true)
    try {
      setLoaded(how === 'more' ? await source.more() : await source.end())
    } catch (error) {
      host.toast(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  const { sizeBytes } = source
  const isShownAsTree = tree !== undefined && isTree
  return (
    <section className="text-viewer" aria-label={host.thing.name}>
      <div className="actions">
        {tree && (
          <Button
            look="quiet"
            onPress={() => {
              setTree(!isTree)
              note('as', isTree ? 'text' : undefined)
            }}
          >
            {t(isTree ? 'viewer.text.showText' : 'viewer.text.showTree')}
          </Button>
        )}
        {!isShownAsTree && (
          <label className="check">
            <input type="checkbox" checked={isWrapped} onChange={event => setWrapped(event.target.checked)} /> {t('viewer.text.wrap')}
          </label>
        )}
        {!isShownAsTree && <span className="help">{t('viewer.text.searchHelp')}</span>}
      </div>
      {structure && 'problem' in structure && <p className="viewer-warning">{structure.problem}</p>}
      {loaded.cutLines > 0 && !isShownAsTree && <p className="viewer-warning">{t('viewer.text.cutLines', { count: loaded.cutLines })}</p>}
      {isShownAsTree ? (
        <Tree name={host.thing.name} root={tree} />
      ) : (
        <Editor
          host={host}
          loaded={loaded}
          isWrapped={isWrapped}
          line={Number(state.get('line') ?? 0)}
          onLine={line => note('line', line > 1 ? String(line) : undefined)}
        />
      )}
      {!loaded.isWhole && (
        <div className="actions">
          <span className="help">
            {t(loaded.isEnd ? 'viewer.text.lastPart' : 'viewer.text.firstPart', { shown: bytes(loaded.readBytes), size: bytes(sizeBytes) })}
          </span>
          {(loaded.isEnd || loaded.readBytes < Math.min(maxBytes, sizeBytes)) && (
            <Button isDisabled={isBusy} onPress={() => void read('more')}>
              {t(loaded.isEnd ? 'viewer.text.showBeginning' : 'viewer.text.showMore')}
            </Button>
          )}
          {!loaded.isEnd && (
            <Button isDisabled={isBusy} onPress={() => void read('end')}>
              {t('viewer.text.showEnd')}
            </Button>
          )}
        </div>
      )}
    </section>
  )
}

const Editor = ({
  host,
  loaded,
  isWrapped,
  line,
  onLine,
}: {
  readonly host: ViewerHost
  readonly loaded: LoadedText
  readonly isWrapped: boolean
  readonly line: number
  readonly onLine: (line: number) => void
}) => {
  const box = useRef<HTMLDivElement>(null)
  const editor = useRef<TextEditor>(undefined)
  const drawn = useRef('')
  const latest = useRef({ onLine, line, loaded })
  latest.current = { onLine, line, loaded }
  useEffect(() => {
    if (!box.current) return undefined
    const { shown } = latest.current.loaded
    const textEditor = new TextEditor(box.current, host, shown, at => latest.current.onLine(at))
    editor.current = textEditor
    drawn.current = shown
    if (latest.current.line > 1) textEditor.goTo(latest.current.line)
    return () => textEditor.remove()
  }, [host])
  useEffect(() => {
    if (drawn.current === loaded.shown) return
    drawn.current = loaded.shown
    editor.current?.setText(loaded.shown)
    editor.current?.setNumbers(!loaded.isEnd)
  }, [loaded])
  useEffect(() => editor.current?.setWrapping(isWrapped), [isWrapped])
  return <div ref={box} className="sheet text-editor" />
}

const Tree = ({ name, root }: { readonly name: string; readonly root: TreeNode }) => {
  const [active, setActive] = useState(root)
  const copy = ({ value, label }: TreeNode): void => void copyText(value ?? label, t('copied'))
  return (
    <>
      <TreeView label={t('viewer.text.treeOf', { name })} roots={[root]} open={openAtFirst(root)} onActive={setActive} onCopy={copy} />
      <p className="tree-path">
        <code dir="auto">{active.id}</code>
        <Button look="quiet" icon="copy" onPress={() => void copyText(active.id, t('copied'))}>
          {t('viewer.text.copyPath')}
        </Button>
      </p>
    </>
  )
}

/** A small tree is initially expanded to its second level. */
const openAtFirst = (root: TreeNode): readonly string[] => {
  const children = root.childCount <= 10 ? (root.children?.() ?? []) : []
  return [root.id, ...children.filter(({ childCount }) => childCount <= 20).map(({ id }) => id)]
}

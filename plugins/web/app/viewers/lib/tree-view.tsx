// biome-ignore-all lint/a11y/useSemanticElements: no element of HTML is a tree
import '../../styles/tree-view.css'
import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Icon } from '../../components/icon.tsx'

/** A tree item. Children are created when they are shown. */
export interface TreeNode {
  /** Unique in the whole tree. */
  readonly id: string
  readonly label: string
  /** Shown after the label. */
  readonly value?: string
  /** What `value` is, for its colour. */
  readonly kind?: 'text' | 'number' | 'word' | 'note'
  readonly childCount: number
  readonly children?: () => readonly TreeNode[]
}

interface Line {
  readonly node: TreeNode
  readonly level: number
  readonly place: number
  readonly siblings: number
  readonly parent: number
}

const rowPx = 28
const spare = 8
const maxLines = 200_000

interface TreeViewProps {
  readonly label: string
  readonly roots: readonly TreeNode[]
  /** Ids of nodes that are open at first. */
  readonly open: readonly string[]
  readonly onActive?: (node: TreeNode) => void
  readonly onCopy?: (node: TreeNode) => void
}

/** A virtual tree of any length: only items in view are rendered. Arrows move, expand and collapse. */
export const TreeView = ({ label, roots, open, onActive, onCopy }: TreeViewProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(open))
  const [activeId, setActiveId] = useState(roots[0]?.id)
  const [range, setRange] = useState({ first: 0, end: 60 })
  const shouldFocus = useRef(false)
  const lines = useMemo(() => linesOf(roots, opened), [roots, opened])
  const active = Math.max(
    0,
    lines.findIndex(({ node }) => node.id === activeId),
  )

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const look = (): void => {
      const first = Math.max(0, Math.floor(element.scrollTop / rowPx) - spare)
      const end = Math.ceil((element.scrollTop + element.clientHeight) / rowPx) + spare
      setRange(before => (before.first === first && before.end === end ? before : { first, end }))
    }
    look()
    element.addEventListener('scroll', look, { passive: true })
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      sizes.disconnect()
    }
  }, [])
  useLayoutEffect(() => {
    if (!shouldFocus.current) return
    const element = box.current?.querySelector<HTMLElement>(`[data-line="${active}"]`)
    if (!element) return
    shouldFocus.current = false
    element.focus({ preventScroll: true })
  })

  const move = (index: number): void => {
    const next = Math.max(0, Math.min(lines.length - 1, index))
    const line = lines[next]
    const element = box.current
    if (!line || !element) return
    shouldFocus.current = true
    const top = next * rowPx
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowPx > element.scrollTop + element.clientHeight) element.scrollTop = top + rowPx - element.clientHeight
    setActiveId(line.node.id)
    onActive?.(line.node)
  }
  const toggle = ({ node }: Line, wanted?: boolean): void => {
    if (node.childCount === 0) return
    setOpened(before => {
      const next = new Set(before)
      if (wanted ?? !before.has(node.id)) next.add(node.id)
      else next.delete(node.id)
      return next
    })
  }

  const keys = (event: KeyboardEvent): void => {
    const line = lines[active]
    if (!line || event.altKey) return
    const isOpen = opened.has(line.node.id)
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowPx) - 1)
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      ArrowRight: () => (line.node.childCount > 0 && !isOpen ? toggle(line, true) : line.node.childCount > 0 && move(active + 1)),
      ArrowLeft: () => (isOpen ? toggle(line, false) : line.parent >= 0 && move(line.parent)),
      Home: () => move(0),
      End: () => move(lines.length - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Enter: () => toggle(line),
      ' ': () => toggle(line),
    }
    const isFar = event.ctrlKey || event.metaKey
    const act = isFar ? (event.key.toLowerCase() === 'c' && onCopy ? () => onCopy(line.node) : undefined) : acts[event.key]
    if (act) {
      event.preventDefault()
      act()
    } else if (!isFar && event.key.length === 1 && event.key !== '/' && event.key !== '?') {
      // Letters are also shortcuts of the page.
      event.preventDefault()
      event.stopPropagation()
      find(event.key)
    }
  }
  const find = (letter: string): void => {
    const wanted = letter.toLocaleLowerCase()
    for (let step = 1; step <= lines.length; step++) {
      const at = (active + step) % lines.length
      if (lines[at]?.node.label.toLocaleLowerCase().startsWith(wanted)) {
        move(at)
        return
      }
    }
  }
  const press = (event: MouseEvent): void => {
    const at = Number((event.target as HTMLElement).closest<HTMLElement>('[data-line]')?.dataset['line'] ?? -1)
    const line = lines[at]
    if (!line) return
    move(at)
    toggle(line)
  }

  const shown = Array.from({ length: Math.max(0, Math.min(lines.length, range.end) - range.first) }, (_, at) => range.first + at)
  const drawn = active < range.first || active >= range.end ? [...shown, active] : shown
  return (
    <div ref={box} role="tree" aria-label={label} className="sheet tree-view" tabIndex={-1} onKeyDown={keys} onClick={press}>
      <div role="none" className="tree-body" style={{ blockSize: `${lines.length * rowPx}px` }}>
        {drawn.map(at => {
          const line = lines[at]
          if (!line) return null
          const { node, level, place, siblings } = line
          const isOpen = opened.has(node.id)
          return (
            <div
              key={node.id}
              role="treeitem"
              data-line={at}
              tabIndex={at === active ? 0 : -1}
              aria-level={level}
              aria-posinset={place}
              aria-setsize={siblings}
              aria-selected={at === active}
              {...(node.childCount > 0 ? { 'aria-expanded': isOpen } : {})}
              className="tree-line"
              style={{ transform: `translateY(${at * rowPx}px)`, paddingInlineStart: `${(Math.min(level, 40) - 1) * 18 + 8}px` }}
            >
              <span className="tree-mark">
                {node.childCount > 0 && <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} size={14} />}
              </span>
              <span className="tree-label" dir="auto">
                {node.label}
              </span>
              {node.value !== undefined && (
                <span className={`tree-value ${node.kind ?? 'text'}`} dir="auto">
                  {node.value}
                </span>
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** The visible nodes when those of `opened` are expanded. */
const linesOf = (roots: readonly TreeNode[], opened: ReadonlySet<string>): readonly Line[] => {
  const lines: Line[] = []
  const add = (nodes: readonly TreeNode[], level: number, parent: number): void => {
    for (const [at, node] of nodes.entries()) {
      if (lines.length >= maxLines) return
      lines.push({ node, level, place: at + 1, siblings: nodes.length, parent })
      if (opened.has(node.id) && node.children) add(node.children(), level + 1, lines.length - 1)
    }
  }
  add(roots, 1, -1)
  return lines
}

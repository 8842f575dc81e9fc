import type { Models } from '../../api.ts'
import { t } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'

type Hit = Models['SearchHit']

const kinds = ['file', 'dataset', 'collection'] as const

/** A hit that bulk jobs can process. */
export type SelectableHit = Hit & { readonly kind: (typeof kinds)[number] }

export const isSelectable = (hit: Hit): hit is SelectableHit => (kinds as readonly string[]).includes(hit.kind)

/** Whether the caller may do anything with selected hits. */
export const useCanSelect = (): boolean => {
  const session = useSession()
  return session?.user != null || session?.capabilities.anonymousDownload === true
}

/** The IDs of the selected hits. */
export type HitSelection = ReadonlySet<string>

/** The selection with one more hit, or without it. */
export const toggled = (selection: HitSelection, id: string): HitSelection =>
  new Set(selection.has(id) ? [...selection].filter(each => each !== id) : [...selection, id])

/** Selects all hits that are shown, or none. */
export const SelectAllHits = ({
  hits,
  selection,
  onSelect,
}: {
  readonly hits: readonly SelectableHit[]
  readonly selection: HitSelection
  readonly onSelect: (selection: HitSelection) => void
}) => {
  const count = hits.filter(({ id }) => selection.has(id)).length
  const isAll = count === hits.length
  return (
    <label className="hit-check">
      <input
        type="checkbox"
        checked={isAll}
        ref={box => {
          if (box) box.indeterminate = count > 0 && !isAll
        }}
        onChange={() => onSelect(new Set(isAll ? [] : hits.map(({ id }) => id)))}
      />
      {t('grid.chooseAll')}
    </label>
  )
}

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

/** The selected hits by ID. They are kept when an update moves them to a page that is not loaded. */
export type HitSelection = ReadonlyMap<string, SelectableHit>

/** The selection with more hits, or without them. */
export const withHits = (selection: HitSelection, hits: readonly SelectableHit[], isChosen: boolean): HitSelection => {
  const next = new Map(selection)
  for (const hit of hits) {
    if (isChosen) next.set(hit.id, hit)
    else next.delete(hit.id)
  }
  return next
}

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
        onChange={() => onSelect(withHits(selection, hits, !isAll))}
      />
      {t('grid.chooseAll')}
    </label>
  )
}

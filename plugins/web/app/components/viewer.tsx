import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { type Contribution, useContributions, viewersFor } from '../lib/contributions.ts'
import { t } from '../lib/i18n.ts'
import { useAddressState, useRequestedParts } from '../lib/requested-parts.ts'
import type { ViewedThing } from '../viewers/host.ts'
import { Loading } from './page-parts.tsx'
import { Part } from './part.tsx'

/** Bytes that can be shown, and their URL. */
export interface Viewable {
  readonly thing: ViewedThing
  readonly url: string
  readonly download?: string | undefined
}

/** One way to show one of them. */
interface Showing extends Viewable {
  /** In the URL of the page: the name of the viewer, and of the preview where it shows one. */
  readonly key: string
  readonly contribution: Contribution
  readonly label: string
}

/** A preview comes after the file itself where viewers of the same rank show both. */
const previewsAfter = 5
/** Below this rank, a preview may be better than the file: wait for the list of previews rather than replace what is shown. */
const surelyBest = 40

const rankOf = ({ contribution, thing }: Pick<Showing, 'contribution' | 'thing'>): number =>
  (contribution.viewer?.rank ?? 0) - (thing.kind === 'preview' ? previewsAfter : 0)

/** All viewers for the file itself, and the best one for each preview. */
const showingsOf = (all: readonly Contribution[], things: readonly Viewable[]): readonly Showing[] => {
  const previews = things.filter(({ thing }) => thing.kind === 'preview')
  return things
    .flatMap(one => {
      const viewers = viewersFor(all, one.thing)
      return (one.thing.kind === 'preview' ? viewers.slice(0, 1) : viewers).map(contribution => ({ ...one, contribution }))
    })
    .sort((one, other) => rankOf(other) - rankOf(one))
    .map(one => {
      const { contribution, thing } = one
      if (thing.kind !== 'preview') return { ...one, label: contribution.title, key: contribution.id }
      const number = previews.findIndex(each => each.thing.id === thing.id) + 1
      const label = t(previews.length === 1 ? 'part.preview' : 'part.previewNumber', { title: contribution.title, number })
      return { ...one, label, key: `${contribution.id}~${thing.id}` }
    })
}

interface ViewerProps {
  readonly things: readonly Viewable[]
  /** The list may still grow. */
  readonly isLoading: boolean
  /** Shown where there is no viewer. */
  readonly empty: ReactNode
  /** With several on a page, the suffix of their names in the URL. */
  readonly slot?: '' | '2'
}

/** Shows bytes with the best available viewer, and offers the others. */
export const Viewer = ({ things, isLoading, empty, slot = '' }: ViewerProps) => {
  const all = useContributions()
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const state = useAddressState(`view${slot}`)
  const showings = useMemo(() => showingsOf(all ?? [], things), [all, things])
  const offered = useRequestedParts(showings)
  const chosen = offered?.find(({ key }) => key === search[`viewer${slot}`]) ?? offered?.[0]
  const mayChange = isLoading && (!chosen || rankOf(chosen) < surelyBest)
  if (!all || !offered || mayChange) return <Loading />
  if (!chosen) return empty
  const choose = (key: string): void =>
    void navigate({
      search: { ...search, [`viewer${slot}`]: key === offered[0]?.key ? undefined : key, [`view${slot}`]: undefined },
      replace: true,
      resetScroll: false,
    } as never)
  return (
    <div className="viewer">
      {offered.length > 1 && <Choice showings={offered} chosen={chosen.key} onChoose={choose} />}
      <Part
        key={chosen.key}
        contribution={chosen.contribution}
        thing={chosen.thing}
        url={chosen.url}
        download={chosen.download}
        state={state}
      />
    </div>
  )
}

/** How many fit into a line. */
const maxButtons = 5

interface ChoiceProps {
  readonly showings: readonly Showing[]
  readonly chosen: string
  readonly onChoose: (key: string) => void
}

const Choice = ({ showings, chosen, onChoose }: ChoiceProps) =>
  showings.length > maxButtons ? (
    <label className="viewer-choice">
      <span className="help">{t('part.as')}</span>
      <select className="input" value={chosen} onChange={event => onChoose(event.target.value)}>
        {showings.map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    </label>
  ) : (
    <fieldset className="viewer-choice" aria-label={t('part.as')}>
      {showings.map(({ key, label }) => (
        <button key={key} type="button" className="button quiet" aria-pressed={key === chosen} onClick={() => onChoose(key)}>
          {label}
        </button>
      ))}
    </fieldset>
  )

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { type Contribution, partsFor, useContributions } from '../lib/contributions.ts'
import { t } from '../lib/i18n.ts'
import { useAddressState, useRequestedParts } from '../lib/requested-parts.ts'
import type { ViewedThing } from '../viewers/host.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Part } from './part.tsx'

const none: readonly Contribution[] = []
const noState = { get: () => undefined, set: () => undefined }

/** Parts of plugins that have something to show for a resource. */
export const useParts = (kind: 'tab' | 'panel' | 'action', thing: ViewedThing): readonly Contribution[] => {
  const all = useContributions() ?? none
  const { id, kind: thingKind } = thing
  const rights = thing.rights.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again for another resource and other rights, not for each change of its name
  const parts = useMemo(
    () => partsFor(all, kind, thing).map(contribution => ({ key: `${contribution.id}/${id}`, contribution, thing, url: '' })),
    [all, kind, id, thingKind, rights],
  )
  return useRequestedParts(parts)?.map(({ contribution }) => contribution) ?? none
}

/** A built-in tab. */
export interface OwnTab {
  readonly key: string
  readonly label: string
  readonly content: ReactNode
}

interface PartTabsProps {
  readonly thing: ViewedThing
  /** The first is shown unless the URL names another one. */
  readonly own: readonly [OwnTab, ...OwnTab[]]
}

/** Tabs of a resource: built-in ones, and those of plugins. A single tab is shown without a tab bar. */
export const PartTabs = ({ thing, own }: PartTabsProps) => {
  const parts = useParts('tab', thing)
  const { tab } = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const state = useAddressState()
  const tabs: readonly OwnTab[] = [
    ...own,
    ...parts.map(contribution => ({
      key: contribution.id,
      label: contribution.title,
      content: <Part key={contribution.id} contribution={contribution} thing={thing} url="" state={state} />,
    })),
  ]
  const [first] = own
  const chosen = tabs.find(({ key }) => key === tab) ?? first
  const choose = (key: string): void =>
    void navigate({
      search: (search: Readonly<Record<string, unknown>>) => ({ ...search, tab: key === first.key ? undefined : key, view: undefined }),
      resetScroll: false,
    } as never)
  return (
    <>
      {tabs.length > 1 && (
        <fieldset className="viewer-choice part-tabs" aria-label={t('part.tabs')}>
          {tabs.map(({ key, label }) => (
            <button key={key} type="button" className="button quiet" aria-pressed={key === chosen.key} onClick={() => choose(key)}>
              {label}
            </button>
          ))}
        </fieldset>
      )}
      {chosen.content}
    </>
  )
}

/** Panels of plugins, for the sidebar. */
export const PartPanels = ({ thing }: { readonly thing: ViewedThing }) => (
  <>
    {useParts('panel', thing).map(contribution => (
      <section key={contribution.id}>
        <h2>{contribution.title}</h2>
        <Part contribution={contribution} thing={thing} url="" state={noState} />
      </section>
    ))}
  </>
)

interface ActionDialogProps {
  readonly contribution: Contribution
  readonly thing: ViewedThing
  readonly onClose: () => void
}

/** A plugin's action that was chosen from the menu of a resource. */
export const ActionDialog = ({ contribution, thing, onClose }: ActionDialogProps) => (
  <Dialog title={contribution.title} isOpen onClose={onClose}>
    <Part contribution={contribution} thing={thing} url="" state={noState} />
    <div className="actions end">
      <Button onPress={onClose}>{t('close')}</Button>
    </div>
  </Dialog>
)

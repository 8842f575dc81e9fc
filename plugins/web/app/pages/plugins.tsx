import { useQuery } from '@tanstack/react-query'
import { Button } from '../components/controls.tsx'
import { FormError } from '../components/form-parts.tsx'
import { FactLine, FailurePage, Loading, PageTitle } from '../components/page-parts.tsx'
import { type Answer, api } from '../lib/api.ts'
import { number } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { queries } from '../lib/queries.ts'
import { refreshSession } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'

type Plugin = Answer<'GET /api/admin/plugins'>[number]

const listKey = ['admin-plugins']

/** Plugins that can be switched first, each group sorted by name. */
const sorted = (plugins: readonly Plugin[]): readonly Plugin[] =>
  plugins.toSorted(
    (one, other) => Number(one.refusal !== undefined) - Number(other.refusal !== undefined) || one.id.localeCompare(other.id),
  )

/** The plugins of the server, with a switch for each optional one. For server admins. */
export const PluginsPage = () => {
  const { data, error, refetch } = useQuery({ queryKey: listKey, queryFn: ({ signal }) => api('GET /api/admin/plugins', { signal }) })
  if (error && !data) return <FailurePage error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    <>
      <PageTitle name={t('plugins.title')} />
      <p>{t('plugins.help')}</p>
      <ul className="plain-list plugins" aria-label={t('plugins.title')}>
        {sorted(data).map(plugin => (
          <PluginLine key={plugin.id} plugin={plugin} />
        ))}
      </ul>
    </>
  )
}

const PluginLine = ({ plugin }: { readonly plugin: Plugin }) => {
  const { id, summary, version, source, state, healthy, message, waitingEvents, restartRequired, refusal, switchable, enabled } = plugin
  return (
    <li>
      <div>
        <b className="mono">{id}</b> {summary}
        <FactLine
          facts={[
            t(`plugins.${state}`),
            state === 'on' && !healthy && <span className="failed">{t('plugins.unhealthy')}</span>,
            message,
            version,
            source === 'built-in' ? t('plugins.builtIn') : source,
            waitingEvents > 0 && t('plugins.waiting', { count: waitingEvents, number: number(waitingEvents) }),
          ]}
        />
        {restartRequired && <p>{enabled ? t('plugins.onAfterRestart') : t('plugins.offAfterRestart')}</p>}
        {refusal === undefined && !switchable && !restartRequired && <p className="faded">{t('plugins.afterRestart')}</p>}
        {refusal !== undefined && <p className="faded">{t('plugins.refused', { reason: refusal })}</p>}
      </div>
      {refusal === undefined && <PluginSwitch plugin={plugin} />}
    </li>
  )
}

const PluginSwitch = ({ plugin: { id, enabled } }: { readonly plugin: Plugin }) => {
  const { isBusy, error, run } = useAct()
  const change = async (): Promise<void> => {
    await api('PUT /api/admin/plugins/{id}', { path: { id }, body: { enabled: !enabled } })
    // Contributions to pages appear and disappear with their plugin.
    await Promise.all([
      queries.invalidateQueries({ queryKey: listKey }),
      queries.invalidateQueries({ queryKey: ['web-contributions'] }),
      refreshSession(),
    ])
  }
  return (
    <div>
      <Button
        isPending={isBusy}
        onPress={() => void run(change)}
        aria-label={enabled ? t('plugins.disableNamed', { id }) : t('plugins.enableNamed', { id })}
      >
        {enabled ? t('plugins.disable') : t('plugins.enable')}
      </Button>
      <FormError text={error} />
    </div>
  )
}

import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Button } from '../components/controls.tsx'
import { FormError } from '../components/form-parts.tsx'
import { LinkFailure, LinkOver, useLinkToken } from '../components/mail-links.tsx'
import { Loading, PageTitle } from '../components/page-parts.tsx'
import { toast } from '../components/toasts.tsx'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { useAct } from '../lib/use-act.ts'

/** Links the identity of a provider to an account, once its owner has opened the emailed link. */
export const LinkIdentityPage = () => {
  const token = useLinkToken() ?? ''
  const navigate = useNavigate()
  const link = useQuery({
    queryKey: ['link', 'identity', token],
    queryFn: () => api('GET /api/login/link', { query: { token } }),
    retry: false,
    enabled: token !== '',
  })
  const { isBusy, error, run } = useAct()
  const confirm = async (label: string): Promise<void> => {
    await api('POST /api/login/link', { body: { token } })
    toast(t('linkIdentity.done', { label }))
    await navigate({ to: '/login' })
  }
  return (
    <div className="entry">
      <PageTitle name={t('linkIdentity.title')} isResource={false} />
      {token === '' ? (
        <LinkOver again="/login" />
      ) : link.error ? (
        <LinkFailure error={link.error} retry={() => void link.refetch()} again="/login" />
      ) : link.data ? (
        <div className="stack">
          <p>{t('linkIdentity.text', link.data)}</p>
          <p className="faded">{t('linkIdentity.warning')}</p>
          <FormError text={error} />
          <div className="actions">
            <Button look="filled" isPending={isBusy} onPress={() => void run(() => confirm(link.data.label))}>
              {t('linkIdentity.action')}
            </Button>
          </div>
        </div>
      ) : (
        <Loading />
      )}
    </div>
  )
}

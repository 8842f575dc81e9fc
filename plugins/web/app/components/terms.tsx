import { useQuery } from '@tanstack/react-query'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { refreshSession, signOut } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { FormError } from './form-parts.tsx'
import { Failure, Loading } from './page-parts.tsx'
import { Sanitized } from './sanitized.tsx'

const configurationQuery = { queryKey: ['configuration'], queryFn: () => api('GET /api/configuration'), staleTime: 0 } as const

/** The current terms of service. */
const useTerms = () => useQuery(configurationQuery)

export const TermsText = () => {
  const { data, error, refetch } = useTerms()
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled by keys
    <section className="terms-text" tabIndex={0} aria-label={t('terms.title')}>
      {data.tosHtml ? <Sanitized html={data.tosText} /> : <div className="plain-text">{data.tosText}</div>}
    </section>
  )
}

/** Requires acceptance of new or changed terms; the only alternative is to sign out. */
export const TermsDialog = ({ onEnd }: { readonly onEnd: (isDone: boolean) => void }) => {
  const { data, refetch } = useTerms()
  const { isBusy, error, run } = useAct()
  const accept = async (): Promise<void> => {
    try {
      await api('POST /api/users/acceptTerms', { body: data?.tosChanged == null ? {} : { tosChanged: data.tosChanged } })
    } catch (failure) {
      // They changed while they were being read.
      await refetch()
      throw failure
    }
    onEnd(true)
    await refreshSession()
  }
  const leave = async (): Promise<void> => {
    onEnd(false)
    await signOut()
  }
  return (
    <Dialog title={t('terms.title')} isOpen onClose={() => undefined} isWide>
      <p>{t('terms.ask')}</p>
      <TermsText />
      <FormError text={error} />
      <div className="actions end">
        <Button onPress={() => void run(leave)}>{t('terms.decline')}</Button>
        <Button look="filled" isPending={isBusy} isDisabled={!data} onPress={() => void run(accept)}>
          {t('terms.accept')}
        </Button>
      </div>
    </Dialog>
  )
}

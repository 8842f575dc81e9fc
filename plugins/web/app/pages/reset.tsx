import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { FormError, SubmitButton } from '../components/form-parts.tsx'
import { LinkFailure, LinkRequest, useLinkToken } from '../components/mail-links.tsx'
import { NewPassword } from '../components/new-account-fields.tsx'
import { Loading, PageTitle } from '../components/page-parts.tsx'
import { toast } from '../components/toasts.tsx'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { changeSession } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'

export const ResetPage = () => {
  const token = useLinkToken()
  return (
    <div className="entry">
      <PageTitle name={t('reset.title')} />
      {token === undefined ? (
        <LinkRequest
          text={t('reset.text')}
          autoComplete="username"
          back={t('reset.back')}
          onSend={email => api('POST /api/password/reset', { body: { email } })}
        />
      ) : (
        <NewPasswordForm token={token} />
      )}
    </div>
  )
}

const NewPasswordForm = ({ token }: { readonly token: string }) => {
  const navigate = useNavigate()
  const queryFn = () => api('GET /api/password/reset/finish', { query: { token } })
  const link = useQuery({ queryKey: ['link', 'reset', token], queryFn, retry: false })
  const [password, setPassword] = useState('')
  const { isBusy, error, run } = useAct()
  if (link.error) return <LinkFailure error={link.error} retry={() => void link.refetch()} again="/reset" />
  if (!link.data) return <Loading />
  const submit = async (): Promise<void> => {
    await api('POST /api/password/reset/finish', { body: { token, password } })
    await changeSession()
    toast(t('reset.done'))
    await navigate({ to: '/login' })
  }
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        void run(submit)
      }}
    >
      <p>{t('reset.for', { email: link.data.email })}</p>
      <input type="hidden" name="username" autoComplete="username" value={link.data.email} />
      <NewPassword value={password} onChange={setPassword} />
      <p className="help">{t('reset.sessions')}</p>
      <FormError text={error} />
      <SubmitButton isBusy={isBusy}>{t('reset.action')}</SubmitButton>
    </Form>
  )
}

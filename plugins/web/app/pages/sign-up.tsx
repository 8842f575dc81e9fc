import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { CheckboxButton, CheckboxField } from 'react-aria-components/Checkbox'
import { Form } from 'react-aria-components/Form'
import { FieldRefusal, TextField } from '../components/controls.tsx'
import { FormError, SubmitButton } from '../components/form-parts.tsx'
import { LinkFailure, LinkRequest, useLinkToken } from '../components/mail-links.tsx'
import { NewAccountFields, trimmed } from '../components/new-account-fields.tsx'
import { Loading, PageTitle } from '../components/page-parts.tsx'
import { TermsText } from '../components/terms.tsx'
import { api } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { changeSession, useSession } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'

export const SignUpPage = () => {
  const token = useLinkToken()
  return (
    <div className="entry">
      <PageTitle name={t('signUp.title')} />
      {token === undefined ? <SignUpRequest /> : <FinishSignUp token={token} />}
    </div>
  )
}

const SignUpRequest = () => {
  const signUp = useSession()?.capabilities.signUp
  if (signUp === 'off') return <p>{t('signUp.off')}</p>
  return (
    <LinkRequest
      text={t(signUp === 'approval' ? 'signUp.byApproval' : 'signUp.text')}
      autoComplete="email"
      back={t('signUp.haveAccount')}
      onSend={email => api('POST /api/signup', { body: { email } })}
    />
  )
}

const FinishSignUp = ({ token }: { readonly token: string }) => {
  const session = useSession()
  const navigate = useNavigate()
  const link = useQuery({
    queryKey: ['link', 'sign-up', token],
    queryFn: () => api('GET /api/signup/finish', { query: { token } }),
    retry: false,
  })
  const [account, setAccount] = useState({ firstName: '', lastName: '', password: '' })
  const [isAccepted, setAccepted] = useState(false)
  const [isWaiting, setWaiting] = useState(false)
  const { isBusy, error, run } = useAct()
  if (link.error) return <LinkFailure error={link.error} retry={() => void link.refetch()} again="/signup" />
  if (!link.data || !session) return <Loading />
  const { email } = link.data
  const submit = async (): Promise<void> => {
    const body = { token, ...trimmed(account), ...(session.site.terms ? { acceptTerms: isAccepted } : {}) }
    const { isActive } = await api('POST /api/signup/finish', { body })
    if (!isActive) return setWaiting(true)
    await api('POST /api/login', { body: { email, password: account.password } })
    await changeSession()
    await navigate({ to: '/' })
  }
  if (isWaiting)
    return (
      <div role="status" className="stack">
        <p>{t('signUp.waiting', { email })}</p>
        <p className="prose">
          <Link to="/">{t('toHome')}</Link>
        </p>
      </div>
    )
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        void run(submit)
      }}
    >
      <NewAccountFields account={account} onChange={setAccount}>
        <TextField label={t('email')} value={email} autoComplete="username" isReadOnly />
      </NewAccountFields>
      {session.site.terms && (
        <>
          <TermsText />
          <CheckboxField className="field" isSelected={isAccepted} onChange={setAccepted} isRequired>
            <CheckboxButton className="checkbox">
              <span className="check-box" aria-hidden="true" />
              {t('terms.iAccept')}
            </CheckboxButton>
            <FieldRefusal missing={t('field.unchecked')} />
          </CheckboxField>
        </>
      )}
      <FormError text={error} />
      <SubmitButton isBusy={isBusy}>{t('signUp.action')}</SubmitButton>
    </Form>
  )
}

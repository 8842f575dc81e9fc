import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { ApiError } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { useSession } from '../lib/session.ts'
import { useAct } from '../lib/use-act.ts'
import { TextField } from './controls.tsx'
import { FormError, SubmitButton } from './form-parts.tsx'
import { Failure } from './page-parts.tsx'

/** The token of an emailed link: in the path, as in Clowder 1, or in the query. */
export const useLinkToken = (): string | undefined => {
  const { token: inPath } = useParams({ strict: false }) as { readonly token?: string }
  const { token: inQuery } = useSearch({ strict: false }) as { readonly token?: string }
  return inPath ?? inQuery
}

/** Sends a link to an email address. */
export const LinkRequest = ({
  text,
  autoComplete,
  back,
  onSend,
}: {
  readonly text: string
  readonly autoComplete: 'email' | 'username'
  /** The label of the link to the sign-in page. */
  readonly back: string
  readonly onSend: (email: string) => Promise<unknown>
}) => {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string>()
  const { isBusy, error, run } = useAct()
  if (sentTo !== undefined) return <LinkSent email={sentTo} />
  return (
    <Form
      className="form"
      onSubmit={event => {
        event.preventDefault()
        void run(async () => {
          await onSend(email)
          setSentTo(email)
        })
      }}
    >
      <p>{text}</p>
      <TextField label={t('email')} type="email" autoComplete={autoComplete} value={email} onChange={setEmail} isRequired autoFocus />
      <FormError text={error} />
      <SubmitButton isBusy={isBusy}>{t('sendLink')}</SubmitButton>
      <p className="prose">
        <Link to="/login">{back}</Link>
      </p>
    </Form>
  )
}

/** Shows the same text whether an account exists or not. */
const LinkSent = ({ email }: { readonly email: string }) => {
  const session = useSession()
  return (
    <div role="status" className="stack">
      <p>{t('linkSent.text', { email })}</p>
      <p className="faded">{session && !session.capabilities.mail ? t('linkSent.noMail') : t('linkSent.spam')}</p>
    </div>
  )
}

type AgainPath = '/signup' | '/reset' | '/login'

/** A link that is used, expired or incomplete, and how to get another one. */
export const LinkOver = ({ again }: { readonly again: AgainPath }) => (
  <div role="alert" className="empty">
    <h2>{t('linkOver.title')}</h2>
    <p>{t('linkOver.text')}</p>
    <Link to={again} className="button">
      {t(again === '/login' ? 'signIn' : 'linkOver.again')}
    </Link>
  </div>
)

export const LinkFailure = ({ error, retry, again }: { readonly error: unknown; readonly retry: () => void; readonly again: AgainPath }) =>
  error instanceof ApiError && error.status === 403 ? <LinkOver again={again} /> : <Failure error={error} retry={retry} />

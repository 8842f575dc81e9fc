import { Link, useParams, useSearch } from '@tanstack/react-router'
import { ApiError } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { useSession } from '../lib/session.ts'
import { Failure } from './page-parts.tsx'

/** The token of a link sent by email: in the path, as Clowder 1 had it, or in the query. */
export const useLinkToken = (): string | undefined => {
  const { token: inPath } = useParams({ strict: false }) as { readonly token?: string }
  const { token: inQuery } = useSearch({ strict: false }) as { readonly token?: string }
  return inPath ?? inQuery
}

/** Says the same whether there is an account or not. */
export const LinkSent = ({ email }: { readonly email: string }) => {
  const session = useSession()
  return (
    <div role="status" className="stack">
      <p>{t('linkSent.text', { email })}</p>
      <p className="faded">{session && !session.capabilities.mail ? t('linkSent.noMail') : t('linkSent.spam')}</p>
    </div>
  )
}

/** A link that is used or too old, and where to get another one. */
export const LinkFailure = ({
  error,
  retry,
  again,
}: {
  readonly error: unknown
  readonly retry: () => void
  readonly again: '/signup' | '/reset'
}) => {
  const isOver = error instanceof ApiError && error.status === 403
  if (!isOver) return <Failure error={error} retry={retry} />
  return (
    <div role="alert" className="empty">
      <h2>{t('linkOver.title')}</h2>
      <p>{t('linkOver.text')}</p>
      <Link to={again} className="button">
        {t('linkOver.again')}
      </Link>
    </div>
  )
}

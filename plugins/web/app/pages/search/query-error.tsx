import { Failure } from '../../components/page-parts.tsx'
import { ApiError } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { messageOf } from '../../lib/messages.ts'

/** The error in the query, and its position. */
export const QueryError = ({
  error,
  query,
  retry,
}: {
  readonly error: unknown
  readonly query: string
  readonly retry?: (() => void) | undefined
}) => {
  if (!(error instanceof ApiError && error.status === 400)) return <Failure error={error} retry={retry} hasTitle={false} />
  const position = typeof error.details['position'] === 'number' ? error.details['position'] - 1 : undefined
  return (
    <div role="alert" className="empty">
      <p>
        <b>{t('search.invalid')}</b>
      </p>
      {position !== undefined && (
        <pre className="query-error">
          {query.slice(0, position)}
          <mark>{query.slice(position, position + 1) || ' '}</mark>
          {query.slice(position + 1)}
        </pre>
      )}
      <p>{messageOf(error)}</p>
    </div>
  )
}

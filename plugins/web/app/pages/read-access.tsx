import { Loading, PageTitle } from '../components/page-parts.tsx'
import { ReadAccess } from '../components/read-access.tsx'
import { t } from '../lib/i18n.ts'
import { useSession } from '../lib/session.ts'

/** Whether the server is public or private: read-only except for server admins. */
export const ReadAccessPage = () => {
  const session = useSession()
  return session ? (
    <div className="entry">
      <PageTitle name={t('readAccess.title')} />
      <ReadAccess session={session} />
    </div>
  ) : (
    <Loading />
  )
}

import { Loading, PageTitle } from '../components/page-parts.tsx'
import { ReadAccess } from '../components/read-access.tsx'
import { t } from '../lib/i18n.ts'
import { useSession } from '../lib/session.ts'

/** Public or private: for server admins to change, for others to know. */
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

import { PageTitle } from '../components/page-parts.tsx'
import { useSession } from '../lib/session.ts'

export const HomePage = () => {
  const session = useSession()
  return <PageTitle name={session?.site.name ?? 'Pounce'} />
}

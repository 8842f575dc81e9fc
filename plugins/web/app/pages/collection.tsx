import { PageTitle } from '../components/page-parts.tsx'

export const CollectionPage = () => <PageTitle name="CollectionPage" />

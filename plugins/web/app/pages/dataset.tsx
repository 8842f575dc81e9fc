import { PageTitle } from '../components/page-parts.tsx'

export const DatasetPage = () => <PageTitle name="DatasetPage" />

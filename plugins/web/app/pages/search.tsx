import { PageTitle } from '../components/page-parts.tsx'

export const SearchPage = () => <PageTitle name="SearchPage" />

import { PageTitle } from '../components/page-parts.tsx'

export const ExplorePage = () => <PageTitle name="ExplorePage" />
export const DatasetsPage = () => <PageTitle name="DatasetsPage" />
export const CollectionsPage = () => <PageTitle name="CollectionsPage" />
export const SpacesPage = () => <PageTitle name="SpacesPage" />

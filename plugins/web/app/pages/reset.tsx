import { PageTitle } from '../components/page-parts.tsx'

export const ResetPage = () => <PageTitle name="ResetPage" />

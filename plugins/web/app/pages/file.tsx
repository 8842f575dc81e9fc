import { PageTitle } from '../components/page-parts.tsx'

export const FilePage = () => <PageTitle name="FilePage" />

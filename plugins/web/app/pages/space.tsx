import { PageTitle } from '../components/page-parts.tsx'

export const SpacePage = () => <PageTitle name="SpacePage" />

import { PageTitle } from '../components/page-parts.tsx'

export const WelcomePage = () => <PageTitle name="WelcomePage" />

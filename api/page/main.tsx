import { render } from 'preact'
import './page.css'
import { App } from './app.tsx'
import { followEvents } from './data/live.ts'
import { startRouting } from './data/route.ts'
import { startTheme } from './data/theme.ts'

startTheme()
startRouting()
const place = document.getElementById('app')
if (place) render(<App />, place)
void followEvents()

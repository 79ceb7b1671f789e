"""The vocabulary of widely used tools and products. Data.

A line is a name as its makers write it, and after a colon its other spellings, separated by commas. Lower case counts
as well: "moved from mysql to postgres". `COUNTED_TOOLS` and `MASS_TOOLS` are also ordinary words, and count only where
the words around them speak of a tool.

What belongs here: software, services and devices that people of many trades name without explaining them, by category.
Tools of one trade or one house belong into the vocabulary of its users.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.text.word_lists import word_set


def _table(text: str) -> Mapping[str, tuple[str, ...]]:
    """The other spellings of each name."""
    lines = (line.strip().partition(": ") for line in text.strip().splitlines() if line.strip())
    return MappingProxyType(
        {name: tuple(each.strip() for each in others.split(",") if each.strip()) for name, _, others in lines}
    )


TOOLS: Final = _table(
    """
    PostgreSQL: postgres, psql
    MySQL
    MariaDB
    SQLite: sqlite3
    MongoDB: mongo
    Redis
    Memcached
    CouchDB
    Couchbase
    CockroachDB
    DynamoDB
    DuckDB
    ClickHouse
    Elasticsearch: elastic search
    OpenSearch
    Neo4j
    InfluxDB
    TimescaleDB
    Supabase
    BigQuery
    SQL Server: mssql
    pgvector
    Pinecone
    Qdrant
    Weaviate
    Kafka: apache kafka
    RabbitMQ
    ActiveMQ
    ZeroMQ
    MQTT
    gRPC
    GraphQL
    Kubernetes: k8s
    Docker
    Podman
    OpenShift
    Terraform
    Ansible
    Jenkins
    GitHub
    GitLab
    Bitbucket
    CircleCI
    ArgoCD
    Prometheus
    Grafana
    Kibana
    Logstash
    Datadog
    Splunk
    OpenTelemetry
    PagerDuty
    nginx
    HAProxy
    Traefik
    Cloudflare
    Heroku
    Vercel
    Netlify
    AWS: amazon web services
    Azure: microsoft azure
    Hadoop
    Databricks
    Airbyte
    Snowflake
    Redshift
    PyTorch
    TensorFlow
    Keras
    scikit-learn
    NumPy
    SciPy
    Jupyter
    MATLAB
    ChatGPT
    OpenAI
    Python
    JavaScript
    TypeScript
    Kotlin
    Node.js: nodejs
    Django
    FastAPI
    Laravel
    React Native
    Next.js: nextjs
    Vue.js: vuejs
    AngularJS
    Svelte
    jQuery
    Webpack
    WordPress
    Drupal
    Joomla
    Shopify
    WooCommerce
    Squarespace
    Magento
    Salesforce
    HubSpot
    Zendesk
    Freshdesk
    Mailchimp
    SendGrid
    Twilio
    Zapier
    Airtable
    Trello
    Jira
    Confluence
    Basecamp
    ClickUp
    Todoist
    Evernote
    Obsidian
    OneNote
    Google Sheets: gsheets
    Google Docs: gdocs
    Google Drive: gdrive
    Google Calendar
    Google Meet
    Google Maps
    Google Analytics
    Microsoft Teams: ms teams
    Microsoft Word: ms word
    Microsoft Excel: ms excel
    Microsoft Outlook: ms outlook
    Microsoft Access: ms access
    Microsoft Project: ms project
    Power BI: powerbi
    PowerPoint: microsoft powerpoint
    SharePoint
    OneDrive
    Dropbox
    WeTransfer
    WhatsApp
    Skype
    Mattermost
    Webex
    Calendly
    SurveyMonkey
    Typeform
    Eventbrite
    Ticketmaster
    PayPal
    QuickBooks
    Figma
    Photoshop: adobe photoshop
    InDesign: adobe indesign
    Lightroom: adobe lightroom
    Canva
    AutoCAD
    SolidWorks
    SketchUp
    ArcGIS
    QGIS
    Unreal Engine
    GarageBand
    Ableton
    Audacity
    YouTube
    LibreOffice
    OpenOffice
    Firefox
    Photopea
    VS Code: vscode, visual studio code
    IntelliJ
    PyCharm
    Neovim
    Emacs
    Linux
    Ubuntu
    Debian
    Windows Server
    macOS
    Raspberry Pi
    Arduino
    Home Assistant
    Zotero
    Mendeley
    EndNote
    LaTeX
    Overleaf
    SPSS
    Stata
    """
)

COUNTED_TOOLS: Final = _table(
    """
    Microsoft Excel: excel
    Microsoft Word: word
    Microsoft Outlook: outlook
    Slack
    Discord
    Telegram
    Signal
    Zoom
    Notion
    Asana
    Linear
    Miro
    Loom
    Stripe
    Xero
    Blender
    Unity
    Unreal Engine: unreal
    Maya
    Godot
    Procreate
    Illustrator
    Premiere
    Git
    Ruby
    Java
    Perl
    Julia
    Scala
    Elixir
    Angular
    Flask
    Cassandra
    Spark
    Airflow
    Sentry
    Tableau
    Looker
    Metabase
    Firebase
    Starlink
    Vault
    """
)
"""Names that are also given names, adjectives or count nouns, which do not follow "uses" without an article."""

MASS_TOOLS: Final = _table(
    """
    Microsoft Teams: teams
    Microsoft Access: access
    Google Sheets: sheets
    Google Docs: docs
    Go
    Rust
    Swift
    Dart
    React
    Spring
    Rails
    Express
    Oracle
    Flink
    Celery
    Pandas
    Puppet
    Chef
    Salt
    Consul
    Nomad
    Square
    Sage
    Sketch
    """
)
"""Names that are also mass nouns, plurals or verbs ("uses salt"): they count capitalised, or beside another tool."""

FIRMS: Final = word_set(
    "adobe airbus alibaba amazon apple bbc boeing bloomberg cnn congress disney exxon facebook fifa ford gazprom "
    "google "
    "honda hollywood huawei ibm ikea instagram intel interpol kodak lego meta microsoft mercedes nasa nato netflix "
    "nike nintendo nokia nvidia openai oracle parliament pfizer pepsi philips reuters samsung siemens sony spotify "
    "starbucks tencent tesla tiktok toyota twitter uber unesco unicef verizon vodafone volkswagen volvo walmart "
    "washington whitehall wikipedia xerox youtube"
)
"""Firms, institutions and capitals of which one says, as of people, that they "said" or "want" something."""

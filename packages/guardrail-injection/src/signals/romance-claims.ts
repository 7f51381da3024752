import type { Claims } from './claims.ts'
import { claimSignals } from './claims.ts'
import type { InjectionSignal } from './injection-signal.ts'

const claims: readonly Claims[] = [
  {
    language: 'es',
    mode: 'modo (?:de )?(?:desarrollador|programador|administrador|dios|depuracion|mantenimiento|root|sin (?:restriccion|limite|filtro|censura)|jailbreak|diagnostico|prueba)|modo (?:de )?(?:sistema|superusuario|anulacion|emergencia|acceso|ilimitado|privilegiado)',
    enter: 'activ[aeo]|entra|entre|inici[ae]|habilit[ae]|cambia a|pasa a|estas en',
    master:
      '(?:soy|aqui|como) (?:tu|su|el) (?:desarrollador|creador|administrador|programador|jefe|dueno)|(?:orden|mensaje|aviso) del (?:administrador|sistema|desarrollador)',
    tell: 'muestra|muestrame|revela|dime|imprim|repite|ensena|escribe|cuales son|cual es|comparte',
    orders:
      'prompt (?:del |de )?sistema|(?:tu|sus?) prompt|(?:tus|sus) (?:instruccion|reglas|directrices|indicacion)|instruccion\\w{0,4} (?:inicial|del sistema|secret|ocult|original|intern)|prompt inicial',
    free: 'sin (?:ninguna? )?(?:restriccion|limitacion|limite|filtro|censura|etica|reglas)|no (?:tienes|tengas|tuvieras|existen|hay) (?:ninguna? )?(?:restriccion|limitacion|limite|filtro|reglas)',
    now: '(?:ahora|a partir de (?:ahora|este momento)|desde ahora)[ ,]{1,2}(?:tu )?(?:eres|seras|actua|te llamas)|finge (?:que|ser)|actua como|a partir de ahora|desde ahora|de ahora en adelante',
    reader:
      '(?:si eres|para) (?:una? |la |el )?(?:ia|inteligencia artificial|asistente de ia|modelo de lenguaje|chatbot)|(?:nota|mensaje|instruccion\\w{0,4}) para (?:la ia|el asistente|el modelo)',
    rank: '(?:soy|aqui|habla|somos|como) (?:el |la |un |una |tu )?(?:nuev[ao] )?(?:administrador|desarrollador|creador|propietari|supervisor|superusuario|director|jef[ea] de|ingeniero de|responsable de (?:seguridad|sistemas)|equipo de (?:seguridad|desarrollo|soporte))',
    secret:
      'contrasena|clave secreta|informacion (?:confidencial|secreta)|datos confidenciales|credencial|palabra secreta|codigo secreto',
    lift: 'desactiv|deshabilit|elimin|levant|anul|suspend|desbloque|apag|elud|evad|remov|ignor|sobrepas',
    limits:
      'restriccion|limitacion|medidas de seguridad|controles de seguridad|protocolos de seguridad|salvaguarda|censura|polit?icas? de (?:contenido|seguridad|uso)|directri\\w{2,4} de seguridad|normas de seguridad|filtros? (?:de (?:seguridad|contenido)|eticos?)',
    permit:
      '(?:tienes|tiene|te doy|cuentas con) (?:permiso|autorizacion|acceso)|(?:estas|esta|quedas) (?:autorizad|permitid)|acceso (?:concedido|autorizado|total)|puedes (?:revelar|compartir|decirme|ignorar|saltarte)',
    changed:
      '(?:instruccion\\w{0,2}|reglas?|orden\\w{0,2}|politicas?) (?:anteriores )?(?:ya no|han? (?:cambiado|caducado|sido)|quedan? (?:anulad|sin efecto)|no se aplic)',
    hush: '(?:no (?:le |se lo )?(?:digas|informes|avises|menciones|cuentes|reveles)|sin (?:decir|informar|avisar))(?:le|lo|selo)? (?:nada )?(?:al|a los|el|esto al|a ningun) usuario',
  },
  {
    language: 'fr',
    mode: "mode (?:de )?(?:developpeur|administrateur|dieu|debogage|debug|maintenance|root|sans (?:restriction|limite|filtre|censure)|jailbreak|diagnostic|test)|mode (?:de |d')?(?:systeme|super-?utilisateur|urgence|acces|illimite|privilegie|contournement)",
    enter: 'activ|entre|passe|bascule|demarre|lance|tu es en|vous etes en',
    master:
      "(?:je suis|ici|en tant que) (?:ton|votre|le|l') ?(?:developpeur|createur|administrateur|programmeur|chef|proprietaire)|(?:ordre|message|avis) (?:de l'administrateur|du systeme|du developpeur)",
    tell: 'montre|revele|affiche|dis[- ]moi|dites|imprime|repete|ecris|donne|quelles? (?:sont|etaient|est)|partage',
    orders:
      'prompt (?:du )?systeme|(?:ton|votre) prompt|(?:tes|vos) (?:instruction|consigne|regle|directive)|(?:instruction|consigne)s? (?:initial|systeme|secret|cache|original|intern)|prompt initial|invite systeme',
    free: "sans (?:aucune? )?(?:restriction|limitation|limite|filtre|censure|ethique|regle)|(?:pas|n'as|n'avez) (?:plus )?(?:de |d'|aucune? )(?:restriction|limitation|limite|filtre|regle)|n'(?:ayez|avais|aviez|ai[et]s?) (?:pas de|aucune?) (?:restriction|limit|filtre|regle)",
    now: "(?:maintenant|desormais|a partir de maintenant|dorenavant)[ ,]{1,2}(?:tu |vous )?(?:es|etes|seras|agis|t'appelles)|fais semblant|agis comme|comporte[- ]toi comme|a partir de maintenant|desormais|dorenavant|fai(?:s|tes) semblant",
    reader:
      "(?:si (?:tu es|vous etes)|pour|a l'attention de) (?:une? |l')?(?:ia|intelligence artificielle|assistant ia|modele de langage|chatbot)|(?:note|message|instruction)s? pour l'(?:ia|assistant)",
    rank: "(?:je suis|ici|nous sommes|en tant qu[e']) ?(?:le |la |l'|un |une )?(?:nouve(?:l|au|lle) )?(?:administrat|developpeu|createur|proprietaire|superviseur|super-?utilisateur|directeur|ingenieur (?:de|en)|responsable (?:de la securite|informatique|systeme)|equipe de (?:securite|developpement|support))",
    secret:
      'mot de passe|cle secrete|informations? (?:confidentielle|secrete)|donnees confidentielles|identifiants|mot secret|code secret',
    lift: 'desactiv|supprim|enlev|retir|lev(?:e|er|ez)\\b|annul|suspend|debloqu|contourn|debrid|eteins|outrepass|ignor',
    limits:
      "restriction|limitation|mesures de securite|controles de securite|protocoles de securite|garde-fou|censure|politiques? (?:de contenu|de securite|d'utilisation)|directives? de securite|regles? de securite|filtres? (?:de (?:securite|contenu)|ethiques?)",
    permit:
      "(?:tu as|vous avez|je te donne|je vous donne) (?:la permission|l'autorisation|le droit|acces)|(?:tu es|vous etes) (?:autorise|habilite)|acces (?:accorde|autorise|total)|tu peux (?:reveler|partager|me dire|ignorer)",
    changed:
      "(?:instruction|consigne|regle|politique|ordre)s? (?:precedentes? )?(?:ne (?:sont|s'appliquent|est) plus|ont (?:change|ete)|a (?:change|ete)|n'ont plus)",
    hush: "(?:ne (?:dis|dites|informe|informez|previens|prevenez|mentionne|mentionnez|revele|revelez)|sans (?:le dire|informer|prevenir|avertir)) ?(?:rien |pas |jamais |cela |ceci )?(?:a |de )?(?:l'|aux |les )utilisateur",
  },
  {
    language: 'it',
    mode: 'modalita (?:di )?(?:sviluppatore|amministratore|dio|debug|manutenzione|root|senza (?:restrizion|limit|filtr|censur)|jailbreak|diagnostic|test)|modalita (?:di )?(?:sistema|superutente|emergenza|accesso|illimitata|privilegiata|override)',
    enter: 'attiv|entra|passa|avvia|abilita|sei in',
    master:
      '(?:sono|qui|come) (?:il )?(?:tuo|vostro|suo|il) (?:sviluppatore|creatore|amministratore|programmatore|capo|proprietario)|(?:ordine|messaggio|avviso) (?:dell.amministratore|del sistema|dello sviluppatore)',
    tell: 'mostra|rivela|dimmi|stampa|ripeti|scrivi|elenca|quali (?:sono|erano)|qual e|condividi',
    orders:
      'prompt (?:di |del )?sistema|(?:il )?tuo prompt|(?:tue|vostre) (?:istruzion|regol|direttiv)|istruzion\\w{0,4} (?:inizial|di sistema|segret|nascost|original|intern)|prompt iniziale',
    free: 'senza (?:alcuna? |nessuna? )?(?:restrizion|limitazion|limit|filtr|censur|etica|regol)|non (?:hai|avere|avessi|ci sono) (?:alcuna? |nessuna? )?(?:restrizion|limitazion|limit|filtr|regol)',
    now: "(?:ora|adesso|da ora in poi|d'ora in poi|da adesso)[ ,]{1,2}(?:tu )?(?:sei|sarai|agisci|ti chiami)|fai finta|fingi di|comportati come|agisci come|da ora in poi|d'ora in poi|da adesso",
    reader:
      '(?:se sei|per) (?:un.|l.|un|una )?(?:ia|intelligenza artificiale|assistente ia|modello linguistico|chatbot)|(?:nota|messaggio|istruzion\\w{0,4}) per (?:l.ia|l.assistente|il modello)',
    rank: "(?:sono|siamo|qui|in qualita di|parla) (?:il |la |lo |l'|un |una )?(?:nuov[ao] )?(?:amministrator|sviluppator|creator|proprietari|supervisor|superutente|direttor|responsabile (?:della sicurezza|di sistema|it)|(?:team|squadra) di (?:sicurezza|sviluppo))",
    secret:
      'password|chiave segreta|informazion\\w{0,2} (?:riservat|confidenzial)|dati riservati|credenzial|parola segreta|codice segreto|parola d.ordine',
    lift: 'disattiv|disabilit|rimuov|elimin|annull|sospend|sblocc|aggir|spegn|ignora|ignor',
    limits:
      'restrizion|limitazion|misure di sicurezza|controlli di sicurezza|protocolli di sicurezza|censur|salvaguard|politic\\w{1,3} (?:di|sui|dei) (?:contenut|sicurezza|utilizzo)|linee guida (?:di sicurezza|etiche)|filtr\\w (?:di (?:sicurezza|contenut)|etic)',
    permit:
      '(?:hai|ha|ti do|ti concedo) (?:il permesso|l.autorizzazione|accesso)|sei autorizzat|accesso (?:concesso|autorizzato|completo|totale)|puoi (?:rivelar|condivider|dirmi|ignorar)',
    changed:
      '(?:istruzioni|regole|ordini|politiche|direttive) (?:precedenti )?(?:non (?:sono piu|valgono|si applicano)|sono (?:cambiate|state|annullat)|e cambiat)',
    hush: "(?:non (?:dire|dirlo|informare|avvisare|menzionare|rivelare)|senza (?:dire|informare|avvisare))(?:lo|rlo)? (?:nulla |niente |questo )?(?:all'|l'|agli )utent",
  },
  {
    language: 'pt',
    mode: 'modo (?:de )?(?:desenvolvedor|programador|administrador|deus|depuracao|manutencao|root|sem (?:restric|limite|filtro|censura)|jailbreak|diagnostico|teste)|modo (?:de |do )?(?:sistema|superusuario|anulacao|emergencia|acesso|ilimitado|privilegiado)',
    enter: 'ativ[ae]|entre|entra|inici[ae]|habilit[ae]|mude para|passe para|esta em',
    master:
      '(?:sou|aqui e|como) (?:o )?(?:seu|teu|o) (?:desenvolvedor|criador|administrador|programador|chefe|dono)|(?:ordem|mensagem|aviso) do (?:administrador|sistema|desenvolvedor)',
    tell: 'mostr|revel|diga|imprim|repit|escrev|quais sao|qual e|compartilh|exib',
    orders:
      'prompt (?:do |de )?sistema|(?:seu|teu) prompt|(?:suas|tuas) (?:instruc|regra|diretriz)|instruc\\w{0,4} (?:inicia|do sistema|secret|ocult|origina|intern)|prompt inicial',
    free: 'sem (?:nenhuma? |qualquer )?(?:restric|limitac|limite|filtro|censura|etica|regra)|nao (?:tem|tenha|tivesse|ha|existem) (?:nenhuma? )?(?:restric|limitac|limite|filtro|regra)',
    now: '(?:agora|a partir de agora|de agora em diante)[ ,]{1,2}(?:voce |tu )?(?:e|es|sera|aja|se chama)\\b|finja (?:que|ser)|aja como|comporte-se como|a partir de agora|de agora em diante|finja que|fazer? de conta',
    reader:
      '(?:se voce (?:e|for)|para) (?:uma? |a |o )?(?:ia|inteligencia artificial|assistente de ia|modelo de linguagem|chatbot)|(?:nota|mensagem|instruc\\w{0,4}) para (?:a ia|o assistente|o modelo)',
    rank: '(?:sou|aqui e|aqui fala|somos|como) (?:o |a |um |uma )?(?:nov[ao] )?(?:administrador|desenvolvedor|criador|proprietari|supervisor|superusuario|diretor|chefe d|engenheir[ao] d|responsavel (?:pela|de) (?:seguranca|sistemas)|equipe de (?:seguranca|desenvolvimento|suporte))',
    secret:
      'senha|chave secreta|informac\\w{0,3} (?:confidencia|secret)|dados confidenciais|credencia|palavra secreta|codigo secreto|palavra-passe',
    lift: 'desativ|desabilit|remov|elimin|anul|suspend|desbloque|deslig|contorn|burl|levant|ignor',
    limits:
      'restric|limitac|medidas de seguranca|controles de seguranca|protocolos de seguranca|censura|salvaguarda|polit?icas? de (?:conteudo|seguranca|uso)|diretri\\w{2,4} de seguranca|normas de seguranca|filtros? (?:de (?:seguranca|conteudo)|eticos?)',
    permit:
      '(?:voce tem|tens|eu te dou|concedo|voce possui) (?:a )?(?:permissao|autorizac|acesso)|(?:voce esta|estas) (?:autorizad|liberad)|acesso (?:concedido|autorizado|total)|(?:voce )?pode (?:revelar|compartilhar|me dizer|ignorar)',
    changed:
      '(?:instruc\\w{0,3}|regras?|ordens|ordem|politicas?|diretrizes) (?:anteriores )?(?:nao (?:se aplica|sao mais|valem)|ja nao|foram (?:alterad|revogad|atualizad|substituid)|mudaram)',
    hush: '(?:nao (?:diga|informe|avise|conte|mencione|revele)|sem (?:dizer|informar|avisar)) (?:nada |isso |isto )?(?:ao|aos|o|para o) usuari',
  },
]

/** Claims in Romance languages. */
export const romanceClaims: readonly InjectionSignal[] = claimSignals(claims)

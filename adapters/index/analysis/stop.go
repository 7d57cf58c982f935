package analysis

import "strings"

// Words that say how a sentence is built, not what it is about: they tell a text's language, and
// queries do without them where other words remain. maxFunction is the longest, in bytes.
const (
	maxFunction = 24

	englishWords = `a about above after again against all am an and any are as at be because been before being below
between both but by can cannot could did do does doing down during each few for from further had has have having he
her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now of
off on once only or other our ours ourselves out over own same she should so some such than that the their theirs them
themselves then there these they this those through to too under until up very was we were what when where which while
who whom why will with would you your yours yourself yourselves dont doesnt didnt isnt arent wasnt werent hasnt havent
hadnt wont wouldnt cant couldnt shouldnt im ive id youre youve youll theyre theyve theyll weve well thats whats`

	germanWords = `aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus
bei bin bis bist da damit dann das dass daß dein deine deinem deinen deiner dem den denn der deren des dessen dich die
dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer
eure für gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins
ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinem keinen keiner können könnte machen man manche mein
meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem
seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter viel vom von
vor wann war waren warum warst was weil welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb
wie wieder will wir wird wirst wo woher wohin wollen wollte worden wurde wurden während würde würden zu zum zur zwar
zwischen`

	frenchWords = `à ai aie ainsi alors as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c
ça car ce ceci cela celle celles celui ces cet cette ceux chez combien comme comment d dans de depuis des donc dont du
elle elles en encore entre es est et étaient était étant été être eu eux fait faire font furent fut il ils j je jusque
l la là laquelle le lequel les leur leurs lorsque lui m ma mais me même mêmes mes moi moins mon n ne ni nos notre nous
on ont ou où par parce pas pendant peu peut peuvent plus pour pourquoi qu quand que quel quelle quelles quels qui quoi
s sa sans se sera serait ses si soi soient soit sommes son sont sous suis sur t ta te tes toi ton tous tout toute
toutes très tu un une vos votre vous y`

	spanishWords = `a al algo algún alguna algunas alguno algunos ante antes aquel aquella aquello así aún aunque
bajo bien cada como cómo con contra cual cuál cuales cuáles cuando cuándo cuanto cuánto cuántos de del desde donde
dónde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos esta está estaba están estar
estas este esto estos fue fueron ha había han has hasta hay he la las le les lo los más me mi mí mientras mis mucho
muchos muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque puede pueden
que qué quien quién quienes se sea según ser será si sí sido sin sobre son soy su sus también tan tanto te tengo ti
tiene tienen toda todas todo todos tu tú tus un una unas uno unos usted ustedes y ya yo`

	italianWords = `a ad ai al alla alle allo agli anche ancora avere aveva avevano c che chi ci ciò come con contro
cosa così cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello di dopo dove due e è ed
era erano essere fa fatto fino fra fu fui furono gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me
mentre mi mia mie miei mio molto ne negli nei nel nell nella nelle nello noi non nostra nostro o ogni oppure per
perché più poi prima proprio può qual quale quali quando quanta quante quanti quanto quella quelle quelli quello quest
questa queste questi questo qui se sei senza si sia siamo siete sono sta stata stati stato su sua sue sugli sui sul
sull sulla sulle sullo suo suoi tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno va vi voi`

	portugueseWords = `a à ainda além algum alguma alguns ao aos aquela aquele aquilo as às até cada com como contra
da das de dela dele deles depois desde do dos e é ela elas ele eles em entre era eram essa essas esse esses esta está
estão estas este estes eu foi foram há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito muitos na
não nas nem nenhum no nos nós nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos
pode podem por porque qual quais quando quanto que quê quem são se sem ser será seu seus sido só sob sobre sou sua
suas também te tem têm tenho ter teu teve tinha toda todas todo todos tu tua um uma umas uns vai você vocês vos`

	dutchWords = `aan af al alle alles als altijd ander andere ben bij boven dan dat de der deze die dit doch doen
door dus een eens elk elke en er ge geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hoeveel hun
iemand iets ik in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar niet
niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot tussen u uit uw van veel voor waar
waarom wanneer want waren was wat we wel welk welke werd werden wie wij wil worden wordt zal ze zei zelf zich zij zijn
zo zonder zou zouden`

	swedishWords = `alla allt än är åt att av bara blev bli blir de deg dem den denna deras dess dessa det detta dig
din dina ditt där då efter ej eller en enligt er ert ett finns från för får före ha hade han hans har helt henne
hennes hon honom hur i icke ingen inget inom inte jag ju kan kunde kommer man med mellan men mer mig min mina mitt mot
mycket många måste när ni nu några någon något och också om oss på redan sedan sig sin sina sitt skall ska skulle som
så sådan så till under upp ut utan vad var vara varför vari varit vart vem vi vid vilka vilken vilket vår våra vårt`

	turkishWords = `ama ancak artık aslında ayrıca az bana bazı belki ben benim beri bile bir birçok biri biz bizim
bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha dahi de defa değil diğer diye dolayı en gibi göre hâlâ
hangi hani hatta hem henüz hep hepsi her hiç için ile ilgili ise kadar karşı kendi kendini ki kim kime kimin kimse kez
mı mi mu mü nasıl ne neden nedenle nerede nereye niçin niye o olan olarak oldu olduğu olmak olması olur ona ondan
onlar onların onu onun ötürü öyle pek rağmen sadece sana sen senin siz sizin sonra şey şu şunu tarafından tüm üzere
var ve veya ya yani yapılan yine yok zaten`

	russianWords = `а без более бы был была были было быть в вам вас весь во вот все всё всего всех вы где да даже
для до его ее её ей ему если есть ещё еще же за здесь и из или им их к как какая какие какой когда кого которая
которые который которых кто куда ли либо мне может мы на над надо наш не него нее неё нет ни них но ну о об однако он
она они оно от очень по под после потом потому почти при про раз с сам себе себя со так также такой там тебя тем
теперь то тогда того тоже только том тот ты у уже хотя чего чей чем что чтобы чьё чья эта эти это этого этом этот я`

	arabicWords = `أما أن أنا أنت أنه أنها أو أي أين إذا إلا إلى إن إنه الآن التي الذي الذين اللذين بعد بعض بل بن به
بها بين تلك ثم حتى حيث خلال ذلك سوف عليه عليها على عن عند عندما غير فإن في فيه فيها قبل قد كان كانت كل كم كما كيف لا
لأن لقد لكن لم لماذا لن له لها لو ليس ما ماذا متى مع من منذ منه منها نحن نحو هؤلاء هذا هذه هل هم هنا هناك هو هي و وقد
وكان وهو وهي يا`

	hindiWords = `अपना अपनी अपने अब अभी आदि आप इन इस इसका इसके इसमें इसे उन उनका उनकी उनके उस उसका उसकी उसके उसे एक
एवं ऐसा ऐसे और कई कब कभी कर करता करते करना करने कहाँ कहां का कि किया किस किसी की कुछ के को कोई कौन क्या क्यों गई गए
गया जब जहाँ जहां जा जिस जो तक तब तो था थी थे द्वारा दिया न नहीं ने पर फिर बहुत बाद भी मैं मुझे में मेरा मेरी यदि यह
यहाँ यहां या ये रहा रही रहे लिए लेकिन व वह वहाँ वहां वाला वाले वे सकता सकते सभी साथ से हम हमारा ही हुआ हुई हुए हूँ हूं
है हैं हो होता होती होते होना`
)

// stopTerms are a language's function words as terms.
func (a *Analyzer) stopTerms(l language) map[string]bool {
	out := map[string]bool{}
	s := a.Scanner(func(t Token) { out[string(t.Term)] = true })
	s.told = l
	for w := range strings.FieldsSeq(tongues[l].function) {
		s.scan(w, []language{l})
	}
	return out
}

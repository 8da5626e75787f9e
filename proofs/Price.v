(* The revenue at a price, docs/reference/scores/of_tables.md#revenue: u(r) = r min(supply, number of bids at or above r). A bidder has
   one bid for each unit that he wants, `units` at most:
   he is `unit_more` or `unit_replaced` of Records; prices are real numbers from 0 to `top`. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Records.
Import ListNotations.
Open Scope R_scope.

Definition pays (price bid : R) : bool := if Rle_dec price bid then true else false.

Definition bids_at (bids : list R) (price : R) : Z := tally (pays price) bids.

(* How many units are sold; None is no limit. *)
Definition sold (supply : option Z) (bids : Z) : Z :=
  match supply with None => bids | Some most => Z.min most bids end.

Definition revenue (supply : option Z) (bids : list R) (price : R) : R :=
  price * IZR (sold supply (bids_at bids price)).

(* The most units by which a bidder moves what is sold. *)
Definition reach (supply : option Z) (units : Z) : Z :=
  match supply with None => units | Some most => Z.min units most end.

Lemma bids_fall : forall bids r s, r <= s -> (bids_at bids s <= bids_at bids r)%Z.
Proof.
  intros bids r s le. apply tally_le. intros x _. unfold pays.
  destruct (Rle_dec s x), (Rle_dec r x); try reflexivity; try discriminate. lra.
Qed.

Lemma bids_within : forall bids r, (0 <= bids_at bids r <= total bids)%Z.
Proof.
  intros bids r. split; [apply tally_nonneg|]. apply tally_le. reflexivity.
Qed.

Lemma bids_app : forall a b r, bids_at (a ++ b) r = (bids_at a r + bids_at b r)%Z.
Proof. intros a b r. apply tally_app. Qed.

(* How far the number of units sold moves at two prices, the bids of one bidder being all that changes. *)
Lemma sold_moves :
  forall supply units a old new b r s,
    (0 <= units)%Z -> (forall most, supply = Some most -> (0 <= most)%Z) ->
    (Z.of_nat (length old) <= units)%Z -> (Z.of_nat (length new) <= units)%Z ->
    let moves x := (sold supply (bids_at (a ++ new ++ b) x) - sold supply (bids_at (a ++ old ++ b) x))%Z in
    (- reach supply units <= moves r <= reach supply units)%Z /\ (moves r - moves s <= reach supply units \/
      (0 <= moves r /\ 0 <= moves s) \/ (moves r <= 0 /\ moves s <= 0))%Z.
Proof.
  intros supply units a old new b r s units0 supply0 few_old few_new moves. unfold moves.
  rewrite <- total_length in few_old, few_new.
  rewrite !bids_app.
  pose proof (bids_within a r). pose proof (bids_within a s).
  pose proof (bids_within b r). pose proof (bids_within b s).
  pose proof (bids_within old r). pose proof (bids_within old s).
  pose proof (bids_within new r). pose proof (bids_within new s).
  assert (order : (bids_at a s <= bids_at a r /\ bids_at b s <= bids_at b r /\
      bids_at old s <= bids_at old r /\ bids_at new s <= bids_at new r)%Z \/
    (bids_at a r <= bids_at a s /\ bids_at b r <= bids_at b s /\
      bids_at old r <= bids_at old s /\ bids_at new r <= bids_at new s)%Z).
  { destruct (Rle_or_lt r s); [left|right]; repeat split; apply bids_fall; lra. }
  destruct supply as [most|]; cbn [sold reach]; [pose proof (supply0 most eq_refl)|]; lia.
Qed.

Lemma price_times : forall price top moves most,
  0 <= price <= top -> (moves <= most)%Z -> (0 <= most)%Z -> price * IZR moves <= top * IZR most.
Proof.
  intros price top moves most [p0 p1] le most0. apply IZR_le in le. apply IZR_le in most0.
  assert (price * IZR moves <= price * IZR most) by (apply Rmult_le_compat_l; lra).
  assert (price * IZR most <= top * IZR most) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* What holds for a bidder who gives way to another: also for one who comes or goes, with no bids before or after. *)
Theorem revenue_replace_one :
  forall supply units top before after,
    (0 <= units)%Z -> (forall most, supply = Some most -> (0 <= most)%Z) ->
    unit_replaced units before after ->
    let move r := revenue supply after r - revenue supply before r in
    let bound := top * IZR (reach supply units) in
    (forall r, 0 <= r <= top -> - bound <= move r <= bound) /\
    (forall r s, 0 <= r <= top -> 0 <= s <= top -> move r - move s <= bound).
Proof.
  intros supply units top before after units0 supply0 [a [old [new [b [-> [-> [few_old few_new]]]]]]] move bound.
  assert (reach0 : (0 <= reach supply units)%Z)
    by (destruct supply as [most|]; cbn [reach]; [pose proof (supply0 most eq_refl)|]; lia).
  set (moves x := (sold supply (bids_at (a ++ new ++ b) x) - sold supply (bids_at (a ++ old ++ b) x))%Z).
  assert (as_product : forall x, move x = x * IZR (moves x))
    by (intros x; unfold move, moves, revenue; rewrite minus_IZR; ring).
  assert (sold_at : forall x y, (- reach supply units <= moves x <= reach supply units)%Z /\
    (moves x - moves y <= reach supply units \/ (0 <= moves x /\ 0 <= moves y) \/
      (moves x <= 0 /\ moves y <= 0))%Z)
    by (intros x y; apply (sold_moves supply units a old new b x y units0 supply0 few_old few_new)).
  clearbody moves. unfold bound.
  assert (each : forall r, 0 <= r <= top ->
    - (top * IZR (reach supply units)) <= move r <= top * IZR (reach supply units)).
  { intros r allowed. rewrite as_product. destruct (sold_at r r) as [[low high] _]. split.
    - assert (opposite : r * IZR (- moves r) <= top * IZR (reach supply units))
        by (apply price_times; [exact allowed|lia|exact reach0]).
      rewrite opp_IZR in opposite. lra.
    - apply price_times; assumption. }
  split; [exact each|]. intros r s allowed_r allowed_s.
  destruct (sold_at r s) as [_ pair]. pose proof (each r allowed_r). pose proof (each s allowed_s).
  assert (sign : forall x, 0 <= x <= top -> ((0 <= moves x)%Z -> 0 <= move x) /\ ((moves x <= 0)%Z -> move x <= 0)).
  { intros x [x0 x1]. rewrite as_product. split; intros sign; apply IZR_le in sign.
    - apply Rmult_le_pos; lra.
    - assert (0 <= x * - IZR (moves x)) by (apply Rmult_le_pos; lra). lra. }
  pose proof (sign r allowed_r) as [up_r down_r]. pose proof (sign s allowed_s) as [up_s down_s].
  destruct (Z.le_ge_cases 0 (moves r)) as [pos_r|neg_r], (Z.le_ge_cases 0 (moves s)) as [pos_s|neg_s];
    [specialize (up_s pos_s); lra| |specialize (up_s pos_s); specialize (down_r neg_r); lra|
     specialize (down_r neg_r); lra].
  assert (apart : (moves r - moves s <= reach supply units)%Z).
  { destruct pair as [close|[[_ same]|[same _]]]; [exact close| |];
      destruct (sold_at r r) as [one _]; destruct (sold_at s s) as [other _]; lia. }
  rewrite !as_product. apply IZR_le in apart. apply IZR_le in pos_r. apply IZR_le in neg_s.
  rewrite minus_IZR in apart.
  assert (r * IZR (moves r) <= top * IZR (moves r)) by (apply Rmult_le_compat_r; lra).
  assert (s * - IZR (moves s) <= top * - IZR (moves s)) by (apply Rmult_le_compat_r; lra).
  assert (top * (IZR (moves r) - IZR (moves s)) <= top * IZR (reach supply units))
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(* A bidder more lowers no revenue, so all change in one direction, and the spread is the change. *)
Theorem revenue_add_remove :
  forall supply units top before after,
    (0 <= units)%Z -> (forall most, supply = Some most -> (0 <= most)%Z) ->
    unit_more units before after ->
    forall r, 0 <= r <= top ->
      0 <= revenue supply after r - revenue supply before r <= top * IZR (reach supply units).
Proof.
  intros supply units top before after units0 supply0 [a [new [b [-> [-> few]]]]] r allowed.
  assert (moved : unit_replaced units (a ++ [] ++ b) (a ++ new ++ b)).
  { exists a, [], new, b. cbn [length]. auto. }
  destruct (revenue_replace_one supply units top _ _ units0 supply0 moved) as [each _].
  split; [|apply (each r allowed)]. unfold revenue. cbn [app]. rewrite !bids_app.
  pose proof (bids_within new r) as [some _].
  assert (sold_more : (sold supply (bids_at a r + bids_at b r) <=
    sold supply (bids_at a r + (bids_at new r + bids_at b r)))%Z)
    by (destruct supply; cbn [sold]; lia).
  apply IZR_le in sold_more.
  assert (r * IZR (sold supply (bids_at a r + bids_at b r)) <=
    r * IZR (sold supply (bids_at a r + (bids_at new r + bids_at b r)))) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(* Where a bidder moves one unit at most, all revenues move the same way also if he gives way to another. *)
Theorem revenue_of_one_unit_is_monotonic :
  forall supply units before after,
    (0 <= units)%Z -> (forall most, supply = Some most -> (0 <= most)%Z) -> reach supply units = 1%Z ->
    unit_replaced units before after ->
    (forall r, 0 <= r -> revenue supply before r <= revenue supply after r) \/
    (forall r, 0 <= r -> revenue supply after r <= revenue supply before r).
Proof.
  intros supply units before after units0 supply0 one [a [old [new [b [-> [-> [few_old few_new]]]]]]].
  set (moves x := (sold supply (bids_at (a ++ new ++ b) x) - sold supply (bids_at (a ++ old ++ b) x))%Z).
  assert (pair : forall x y, ((0 <= moves x) \/ (moves y <= 0))%Z).
  { intros x y.
    destruct (sold_moves supply units a old new b y x units0 supply0 few_old few_new) as [_ two].
    rewrite one in two. fold (moves x) in two. fold (moves y) in two. lia. }
  assert (scaled : forall r low high, 0 <= r -> (low <= high)%Z -> r * IZR low <= r * IZR high).
  { intros r low high r0 le. apply IZR_le in le. apply Rmult_le_compat_l; lra. }
  destruct (Classical_Prop.classic (exists y, (0 < moves y)%Z)) as [[y up]|none].
  - left. intros r r0. apply scaled; [exact r0|]. destruct (pair r y) as [here|there]; unfold moves in *; lia.
  - right. intros r r0. apply scaled; [exact r0|].
    destruct (Z.le_gt_cases (moves r) 0) as [down|up]; [unfold moves in *; lia|].
    exfalso. apply none. exists r. exact up.
Qed.
